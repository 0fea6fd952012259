// Tests of /llms.txt, which describes the site to agents, in the format of https://llmstxt.org.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { test } from "node:test";
import { guideFiles } from "../../www/guides.ts";
import { root } from "../lib/paths.mjs";
import { welcome } from "../start/welcome.mjs";

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

test("each link of llms.txt is a page of the site, and each guide is listed", () => {
  const links = [...text.matchAll(/\]\((\/[^)]+)\)/g)].map(([, link]) => link);
  const [guides, others] = [[], []];
  for (const link of links) (link.startsWith("/guides/") ? guides : others).push(link);
  assert.deepEqual(others.sort(), ["/docs", "/v1/openapi.json"]);
  assert.ok(guides.includes("/guides/docs/agents.md") && guides.includes("/guides/docs/api.md"));
  const files = guideFiles();
  for (const guide of guides) assert.ok(files.has(guide.slice("/guides/".length)), guide);
});

test("`npm start` and the READMEs of the packages name only guides of the service", () => {
  const files = guideFiles();
  const printed = welcome("http://localhost:8787", "sk_test_1", "http://127.0.0.1:8789", "http://localhost:8787/mcp/1");
  const readmes = ["server/README.md", "npm/README.md", "python/README.md"];
  const texts = [printed, ...readmes.map((name) => readFileSync(join(root, name), "utf8"))];
  for (const text of texts) {
    const named = [...text.matchAll(/\/guides\/([\w/.-]+\.md)/g)].map(([, path]) => path);
    assert.ok(named.length > 0, text);
    for (const path of named) assert.ok(files.has(path), path);
    assert.doesNotMatch(text.replaceAll(/\/guides\/docs\/[\w.-]+/g, ""), /\bdocs\/[\w-]+\.md/);
  }
});

test("each relative link or image of a guide is a guide or an image of the site", () => {
  const files = guideFiles();
  for (const page of ["CHANGELOG.md", "SECURITY.md", "docs/proof.md", "docs/demo.md"]) assert.ok(files.has(page), page);
  let links = 0;
  for (const [path, source] of files) {
    if (!path.endsWith(".md")) continue;
    for (const [, inText, inTag] of source.matchAll(/\]\(([^)\s]+)\)|\b(?:src|srcset)="([^"]+)"/g)) {
      const link = inText ?? inTag;
      if (/^(?:[a-z]+:|#)/.test(link)) continue;
      assert.ok(files.has(posix.join(posix.dirname(path), link.split("#")[0])), `${path}: ${link}`);
      links += 1;
    }
  }
  assert.ok(links > 100, `${links} links`);
});

test("in a guide, links to source code become plain text, because the site has no source code", () => {
  const page = guideFiles().get("docs/benchmarks.md");
  assert.match(page, /RustCrypto: the code says why/);
  assert.ok(!page.includes("](../src/"));
});
