// Merging concurrent edits of one version in the console.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { mergeFields, mergeTags } from "../../../www/src/connections/merge.ts";

/** Cases: the base, their tags, my tags, and the merged tags. Each letter is a tag. */
const TAGS = [
  ["ab", "ab", "abc", "abc"],
  ["ab", "abc", "ab", "abc"],
  ["ab", "bt", "abm", "btm"],
  ["ab", "abt", "bm", "btm"],
  ["ab", "", "abm", "m"],
  ["ab", "abt", "", "t"],
  ["ab", "b", "b", "b"],
  ["ab", "abx", "abx", "abx"],
  ["ab", "abxt", "abxm", "abxtm"],
  // The merge has their order, unless only I have changed the order.
  ["abc", "cba", "abcm", "cbam"],
  ["abc", "abc", "cba", "cba"],
  // Duplicate tags are possible.
  ["aa", "aab", "a", "ab"],
  ["a", "ab", "aa", "aba"],
  ["", "a", "b", "ab"],
];

/** Cases: the base, their fields, my fields, the merged fields, and the names of the conflicting ones. */
const FIELDS = [
  [{ a: 1, b: 1 }, { a: 1, b: 1 }, { a: 2, b: 1 }, { a: 2, b: 1 }, []],
  [{ a: 1, b: 1 }, { a: 1, b: 2 }, { a: 2, b: 1 }, { a: 2, b: 2 }, []],
  [{ a: 1, b: 1 }, { a: 2, b: 1 }, { a: 2, b: 1 }, { a: 2, b: 1 }, []],
  [{ a: 1, b: 1 }, { a: 3, b: 2 }, { a: 2, b: 1 }, { a: 2, b: 2 }, ["a"]],
  [{ a: 1, b: 1 }, { a: 2, b: 2 }, { a: 1, b: 1 }, { a: 2, b: 2 }, []],
];

describe("a three-way merge", () => {
  for (const [base, theirs, mine, both] of TAGS) {
    test(`of tags "${base}", "${theirs}" and "${mine}" returns "${both}"`, () =>
      assert.equal(mergeTags([...base], [...theirs], [...mine]).join(""), both));
  }
  for (const [base, theirs, mine, merged, conflicts] of FIELDS) {
    test(`of fields ${[base, theirs, mine].map((fields) => JSON.stringify(fields)).join(" ")}`, () =>
      assert.deepEqual(mergeFields(base, theirs, mine), { merged, conflicts }));
  }
});
