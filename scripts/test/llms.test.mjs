// What the site tells agents of itself: /llms.txt, in the form of https://llmstxt.org.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { root } from "../lib/paths.mjs";

const text = readFileSync(join(root, "www", "public", "llms.txt"), "utf8");

test("llms.txt has a title, a summary, notes and lists of links, in this order", () => {
  const lines = text.split("\n").filter(Boolean);
  assert.match(lines[0], /^# \S/);
  assert.match(lines[1], /^> \S/);
  const first = lines.findIndex((line) => line.startsWith("## "));
  assert.ok(first > 2 && lines.slice(2, first).every((line) => line.startsWith("- ")), "notes come before the lists");
  const lists = lines.slice(first);
  assert.ok(lists.every((line) => /^## \S/.test(line) || /^- \[[^\]]+\]\(\/[^)\s]+\): \S/.test(line)));
  assert.equal(lists.filter((line) => line.startsWith("## ")).at(-1), "## Optional");
});

test("each link of llms.txt leads to a page of the site, and each guide is a file", () => {
  const links = [...text.matchAll(/\]\((\/[^)]+)\)/g)].map(([, link]) => link);
  const [guides, others] = [[], []];
  for (const link of links) (link.startsWith("/guides/") ? guides : others).push(link);
  assert.deepEqual(others.sort(), ["/docs", "/v1/openapi.json"]);
  assert.ok(guides.includes("/guides/docs/agents.md") && guides.includes("/guides/docs/api.md"));
  for (const guide of guides) assert.ok(existsSync(join(root, guide.slice("/guides/".length))), guide);
});
