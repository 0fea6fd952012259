// Parses the pages of the documentation: README.md and docs/*.md.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { root } from "../../../scripts/lib/paths.mjs";

const FENCE = /^( *)```(.*)\n([^]*?)^\1```$/gm;

/** GitHub's anchor of a heading. */
const slug = (heading) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");

export class Page {
  constructor(path) {
    this.path = path;
    this.name = relative(root, path);
    this.text = readFileSync(path, "utf8");
    /** The fenced blocks: { language, mark, code, line, heading }. The mark follows the language. */
    this.blocks = [...this.text.matchAll(FENCE)].map(({ 1: indent, 2: info, 3: code, index }) => {
      const before = this.text.slice(0, index);
      const [language, ...mark] = info.split(" ");
      return {
        page: this.name,
        language,
        mark: mark.join(" "),
        code: code.replaceAll(new RegExp(`^${indent}`, "gm"), ""),
        line: before.split("\n").length,
        heading:
          before
            .match(/^#+ .*$/gm)
            ?.at(-1)
            .replace(/^#+ /, "") ?? "",
      };
    });
    const fences = this.text.match(/^ *```/gm) ?? [];
    assert.equal(fences.length, 2 * this.blocks.length, `${this.name}: a fence that is not closed`);
    /** The text without the blocks. */
    this.prose = this.text.replaceAll(FENCE, "");
  }

  /** The blocks with a mark. There must be at least one. */
  marked(kind) {
    const found = this.blocks.filter(({ language, mark }) => `${language} ${mark}` === kind);
    assert.ok(found.length > 0, `${this.name} has no block \`${kind}\``);
    return found;
  }

  /** The anchors of the headings. */
  get anchors() {
    return this.prose.match(/^#+ .*$/gm).map((line) => slug(line.replace(/^#+ /, "")));
  }

  /** The targets of links and images. */
  get links() {
    const inline = [...this.prose.matchAll(/\]\(([^()\s]+)\)/g)];
    const html = [...this.prose.matchAll(/\b(?:src|srcset|href)="([^"]*)"/g)];
    const bare = [...this.prose.matchAll(/(?<![("])(https:\/\/[^\s)>]+)/g)];
    return [...inline, ...html, ...bare].map(([, target]) => target);
  }

  /** The tables as arrays of rows, which are arrays of cells: the header first, without the delimiter row. */
  get tables() {
    const tables = this.prose.match(/(?:^\|.*\|\n)+/gm) ?? [];
    return tables.map((table) =>
      table
        .trim()
        .split("\n")
        .filter((_, at) => at !== 1)
        .map((row) =>
          row
            .slice(1, -1)
            .split("|")
            .map((cell) => cell.trim()),
        ),
    );
  }

  /** Resolves a relative link to the path of its file. */
  resolve(target) {
    return join(dirname(this.path), target);
  }
}

/** All pages: README first, then the one that uses README's connection and deletes it. */
export const pages = [
  join(root, "README.md"),
  join(root, "docs", "demo.md"),
  ...readdirSync(join(root, "docs"))
    .filter((name) => name.endsWith(".md") && name !== "demo.md")
    .sort()
    .map((name) => join(root, "docs", name)),
].map((path) => new Page(path));

export const page = (name) => pages.find((candidate) => candidate.name === name) ?? assert.fail(`there is no ${name}`);
