// `npm run lint`: comments, documentation and messages use the words of the glossary in docs/contributing.md. This finds
// constructions that make a sentence hard to read. `language-allowed.txt` lists the uses that are right, each with its reason.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../lib/paths.mjs";
import { Problem } from "../lib/problem.mjs";

/** The files and folders that the lint covers. Add one as soon as it passes. */
const COVERED = [
  "README.md",
  "SECURITY.md",
  "CHANGELOG.md",
  "Cargo.toml",
  "docs",
  "examples",
  "lab",
  "npm",
  "providers.toml",
  "python",
  "schema",
  "scripts",
  "server",
  // The lint's own test cases contain the banned constructions.
  ":!scripts/test/language.test.mjs",
  "sources.toml",
  "src",
  "tests/api",
  "tests/e2e",
  "tests/fuzz",
  "tests/importer",
  "tests/platforms",
  "tests/projects",
  "tests/python",
  "tools",
  "wrangler.toml",
  "www",
];
const ALLOWED = join(root, "scripts", "test", "language-allowed.txt");

/** Banned constructions, each with its replacement. */
const BANNED = [
  [/\bwho(?:m|so)?ever\b/gi, "name who acts"],
  [/\b(?:nobody|somebody|no one)\b/gi, "name who acts"],
  [/\banew\b/gi, "again"],
  [/\b(?:told|tells)\b/gi, "reports, returns, shows"],
  [/\bis said\b|\bsaid of\b/gi, "describe it directly"],
  [/\bwhat is no\b/gi, "describe it directly"],
  [/\bas it were\b/gi, "leave it out"],
  [/\bso many\b/gi, "give the number"],
  [/\bbesides\b/gi, "also"],
  [/\bis to be\b/gi, "must be, or is"],
  [/\bfor good\b/gi, "permanently"],
  [/\bas a rule\b/gi, "usually"],
  [/\bmend(?:s|ed|ing)?\b/gi, "fix"],
  [/\bmade[- ]up\b/gi, "generated"],
  [/\bgo(?:es)? on\b/gi, "continue"],
  [/\bheed(?:s|ed|ing)?\b/gi, "honour"],
  [/(?<!\bthere )\b(?:is|are) no (?!longer\b|more\b|less\b|such\b|other\b)/gi, "is not a"],
  [/(?<!\bthere )\b(?:is|are) none\b(?! of\b)/gi, "describe it directly"],
  [/\bwhat (?:it|they) should be\b/gi, "what is wrong, and what was expected"],
];

/** Matches the parts of Markdown that are not prose: fenced blocks and inline code. */
const NOT_PROSE = /^ *```[^]*?^ *```|`[^`\n]*`/gm;
/** Matches comments and strings of code as `text`. Strings without a space are values, not prose. */
const CODE = {
  rust: /(?<text>\/\/[^\n]*|\/\*[^]*?\*\/|"(?:\\[^]|[^"\\])*")|'(?:\\.[^']*|[^'\\])'|r(?<hash>#*)"[^]*?"\k<hash>/g,
  script:
    /(?<text>\/\/[^\n]*|\/\*[^]*?\*\/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\[^]|[^`\\])*`)|(?<=[(,=:[!&|?{};]\s*)\/(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n])+\//g,
  lines: /(?<text>#[^\n]*|--[^\n]*|"(?:\\.|[^"\\\n])*"|"""[^]*?""")/g,
};
const KINDS = {
  rs: "rust",
  ts: "script",
  tsx: "script",
  js: "script",
  mjs: "script",
  sql: "lines",
  toml: "lines",
  py: "lines",
};

const blank = (text) => text.replaceAll(/[^\n]/g, " ");

/** Replaces everything but prose with spaces, to preserve line numbers. */
function proseOf(name, text) {
  const kind = KINDS[name.split(".").at(-1)];
  if (!kind) return text.replaceAll(NOT_PROSE, blank);
  let out = "";
  let end = 0;
  for (const match of text.matchAll(CODE[kind])) {
    const found = match.groups.text ?? "";
    out += blank(text.slice(end, match.index));
    const isProse = found.trim().includes(" ");
    const names = found.startsWith("`") ? /\$\{[^}]*\}/g : /`[^`\n]+`|\{[\w.:!?]*\}/g;
    out += isProse ? found.replaceAll(names, blank) : blank(match[0]);
    end = match.index + match[0].length;
  }
  return out;
}

/** The banned constructions of a file: { line, phrase, instead }. */
export function findings(name, text) {
  const prose = proseOf(name, text);
  return BANNED.flatMap(([pattern, instead]) =>
    [...prose.matchAll(pattern)].map(({ 0: phrase, index }) => ({
      line: prose.slice(0, index).split("\n").length,
      phrase: phrase.toLowerCase(),
      instead,
    })),
  ).sort((a, b) => a.line - b.line);
}

/** The covered files that git tracks or would add. */
function files() {
  const args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", ...COVERED];
  return execFileSync("git", args, { cwd: root, encoding: "utf8" })
    .split("\0")
    .filter((name) => (name.endsWith(".md") || KINDS[name.split(".").at(-1)]) && existsSync(join(root, name)));
}

/** The allow list: lines such as `docs/api.md: nobody # a value of the API`. */
export const allowedOf = (text) =>
  text
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => {
      const [, file, phrase] = /^(\S+): (.+) # \S.*$/.exec(line) ?? [];
      if (!file) throw new Problem(`language-allowed.txt: no file, phrase and reason in this line: ${line}`);
      return `${file}: ${phrase}`;
    });

/** Fails if a covered file contains a banned construction, or the allow list an entry that is not needed. */
export async function language() {
  const allowedEntries = new Set(allowedOf(readFileSync(ALLOWED, "utf8")));
  const usedEntries = new Set();
  const errors = [];
  for (const name of files()) {
    for (const { line, phrase, instead } of findings(name, readFileSync(join(root, name), "utf8"))) {
      const entry = `${name}: ${phrase}`;
      if (allowedEntries.has(entry)) usedEntries.add(entry);
      else errors.push(`${name}:${line}: "${phrase}" (${instead})`);
    }
  }
  errors.push(
    ...[...allowedEntries]
      .filter((entry) => !usedEntries.has(entry))
      .map((entry) => `language-allowed.txt: not needed: ${entry}`),
  );
  if (errors.length > 0)
    throw new Problem(`Rewrite ${errors.length} places; docs/contributing.md has the words:`, {
      output: errors.join("\n"),
    });
}
