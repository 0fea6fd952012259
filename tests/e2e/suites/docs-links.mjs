// Checks links and file names in the documentation.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { root } from "../../../scripts/lib/paths.mjs";
import { Page, page, pages } from "../support/docs.mjs";
import { SCRIPTS, wordsOf } from "../support/docs-commands.mjs";

export function links() {
  describe("links", () => {
    for (const docPage of pages) {
      test(`in ${docPage.name} have existing targets`, () => {
        for (const link of docPage.links) {
          if (/^https?:/.test(link)) {
            assert.ok(URL.canParse(link), link);
            continue;
          }
          const [path, anchor] = link.split("#");
          const target = path === "" ? docPage.path : docPage.resolve(path);
          assert.ok(existsSync(target), `${link} does not exist`);
          if (anchor) assert.ok(new Page(target).anchors.includes(anchor), `${link} has no such heading`);
        }
      });
    }

    test("every named file and test exists", () => {
      const files = pages.flatMap(({ name, prose }) =>
        [...prose.matchAll(/`((?:src|tests|scripts|npm|lab|schema|docs|www|python|tools)(?:\/[\w.-]+)*)`/g)].map(
          ([, path]) => `${name}: ${path}`,
        ),
      );
      assert.ok(files.length > 40);
      assert.deepEqual(
        files.filter((file) => !existsSync(join(root, file.split(": ")[1]))),
        [],
      );
      const alone = page("docs/contributing.md")
        .tables.find(([heads]) => heads.at(-1) === "run it alone")
        .slice(1)
        .map((row) => wordsOf(row.at(-1).replaceAll("`", "")));
      assert.ok(alone.length > 5);
      for (const [first, ...args] of alone) {
        if (first === "npm") assert.ok(SCRIPTS[args[args[0] === "run" ? 1 : 0]], args.join(" "));
        else if (first === "node") assert.ok(existsSync(join(root, args.at(-1))), args.at(-1));
        else
          assert.ok(
            ["", "/main"].some((end) =>
              existsSync(join(root, "tests", `${args[args.indexOf("--test") + 1]}${end}.rs`)),
            ),
            args.join(" "),
          );
      }
    });

    test("README links to every page, and every source exists", () => {
      const links = page("README.md").links;
      assert.deepEqual(
        pages
          .slice(1)
          .filter(({ name }) => !links.includes(name))
          .map(({ name }) => name),
        [],
      );
      const { prose } = page("docs/comparison.md");
      const digits = "⁰¹²³⁴⁵⁶⁷⁸⁹";
      const numbers = new Set(
        [...prose.matchAll(/\[([⁰¹²³⁴⁵⁶⁷⁸⁹]+)\]\(#sources\)/g)].map(([, mark]) =>
          Number([...mark].map((digit) => digits.indexOf(digit)).join("")),
        ),
      );
      const footnotes = [...prose.matchAll(/^(\d+)\. .* – https:\/\/\S+$/gm)].map(([, at]) => Number(at));
      assert.deepEqual(
        [...numbers].toSorted((a, b) => a - b),
        footnotes,
      );
    });
  });
}
