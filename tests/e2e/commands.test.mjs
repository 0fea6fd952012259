// Every command in a help text, a page, a message or a comment exists, with its options.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { promisify } from "node:util";
import { program } from "../../scripts/lib/native-cli.mjs";
import { root } from "../../scripts/lib/paths.mjs";
import { SCRIPTS, expectCommand } from "./support/docs-commands.mjs";
import { build } from "./support/workspace.mjs";

const run = promisify(execFile);
/** The searched files, without generated ones and benchmarks. */
const SOURCES = [
  "README.md",
  "SECURITY.md",
  "CHANGELOG.md",
  "wrangler.toml",
  "catalog.toml",
  "docs",
  "schema",
  "scripts",
  "lab",
  "src",
  "www/src",
];
const SEARCHED_EXTENSIONS = /\.(md|toml|mjs|js|ts|tsx|rs|sql|html)$/;
/** The operator's scripts, which have subcommands. */
const OPERATOR_SCRIPTS = Object.keys(SCRIPTS).filter((name) => SCRIPTS[name].startsWith("node scripts/operator.mjs"));

function files(path) {
  if (!statSync(path).isDirectory()) return [path];
  const entries = readdirSync(path, { withFileTypes: true }).filter(({ name }) => name !== "node_modules");
  return entries
    .flatMap((entry) => (entry.isDirectory() ? files(join(path, entry.name)) : [join(path, entry.name)]))
    .filter((name) => SEARCHED_EXTENSIONS.test(name));
}

/** The words of the command in a line, up to the first placeholder. */
function commandWords(line) {
  const words = line.trim().split(/\s+/);
  const end = words.findIndex((word) => !/^(--|--?[a-z][\w-]*|[a-z](?:[\w:./@-]*\w)?|\d+)$/.test(word));
  return end < 0 ? words : words.slice(0, end);
}

/** The commands in a string: { line, words }. */
function commandsIn(text) {
  const found = [];
  // A command extends to the end of the quotation, the line or the sentence.
  for (const [line] of text.matchAll(/\b(?:npm (?:run|start|test)|npx wrangler)\b(?: [^\s`'"<[{$\\),;&|…]+)*/g)) {
    const words = commandWords(line.replace(/[.:]$/, ""));
    if (words[1] === "run" && words.length < 3) continue;
    found.push({ line, words });
  }
  // The operator's commands are quoted without `npm run`.
  for (const [line, first, second] of text.matchAll(/[`']([a-z-]+) ([a-z-]+)(?: [^`'\n]*)?[`']/g)) {
    if (!OPERATOR_SCRIPTS.includes(first)) continue;
    found.push({ line, words: ["npm", "run", first, "--", second] });
  }
  return found;
}

/** The help of a command and its subcommands. */
async function allHelp(path = []) {
  const { stdout } = await run(program, [...path, "--help"]);
  const below = stdout.split(/^Commands:\n/m)[1]?.split("\n\n")[0] ?? "";
  const names = [...below.matchAll(/^ {2}([a-z-]+)/gm)].map(([, name]) => name).filter((name) => name !== "help");
  const subcommands = await Promise.all(names.map((name) => allHelp([...path, name])));
  return [{ name: `${[...path, "--help"].join(" ")}`, text: stdout }, ...subcommands.flat()];
}

describe("documented commands exist", { timeout: 600_000 }, () => {
  before(build);

  async function expectAll(texts, min) {
    const commands = texts.flatMap(({ name, text }) => commandsIn(text).map((found) => ({ name, ...found })));
    assert.ok(commands.length >= min, `${commands.length} commands were found`);
    const faults = [];
    for (const { name, line, words } of commands) {
      await expectCommand(words).catch((error) => faults.push(`${name}: ${line}: ${error.message.split("\n")[0]}`));
    }
    assert.deepEqual(faults, []);
  }

  test("each command in the help of the operator's commands exists", async () => {
    const texts = await allHelp();
    assert.ok(texts.length > 25);
    for (const { name, text } of texts.slice(1)) assert.match(text, /^Usage: npm run [a-z-]+ --/m, name);
    await expectAll(texts, 20);
  });

  test("each command in the help of the other scripts exists", async () => {
    const scripts = ["scripts/start.mjs", "scripts/deploy.mjs", "lab/run.mjs"];
    const texts = scripts.map(async (name) => ({
      name,
      text: (await run(process.execPath, [join(root, name), "--help"])).stdout,
    }));
    await expectAll(await Promise.all(texts), 3);
  });

  test("each command in pages, messages and comments exists", async () => {
    const all = SOURCES.flatMap((source) => files(join(root, source)));
    await expectAll(
      all.map((name) => ({ name: name.slice(root.length + 1), text: readFileSync(name, "utf8") })),
      200,
    );
  });

  test("an unknown command is detected", async () => {
    for (const wrong of ["npm run nothing", "npm run keys -- lst", "npm run keys -- list --nothing", "`keys lst`"])
      await assert.rejects(expectAll([{ name: "a page", text: `Run ${wrong} now.` }], 1), wrong);
  });
});
