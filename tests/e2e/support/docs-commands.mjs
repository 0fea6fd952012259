// The commands in the examples of the documentation.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { program } from "../../../scripts/lib/native-cli.mjs";
import { root, wrangler } from "../../../scripts/lib/paths.mjs";
import { environment } from "../../../scripts/lib/run.mjs";
import { passedOn } from "../../../scripts/start/options.mjs";
import { wranglerEnvironment } from "./workspace.mjs";

const TIMEOUT_MS = 300_000;
/** The scripts of package.json. */
export const SCRIPTS = JSON.parse(readFileSync(join(root, "package.json"), "utf8")).scripts;

/** The words of a command line: quotes taken off, a comment left out. */
export const words = (line) =>
  [...line.matchAll(/(?:^|\s)#.*$|"([^"]*)"|(\S+)/g)].flatMap(([, quoted, bare]) => quoted ?? bare ?? []);
/** The commands of an example, each as words, without what they read; `&&` ends one as a line does. */
export const commands = (code) =>
  code
    .replaceAll("\\\n", " ")
    .replaceAll(/ < \S+/g, "")
    .split(/\n|&&/)
    .map(words)
    .filter((command) => command.length > 0);

const helps = new Map();

/** What a program tells of a command; asked once. */
function help(file, ...args) {
  const line = JSON.stringify([file, ...args]);
  const env = { ...environment(), ...wranglerEnvironment };
  if (!helps.has(line))
    helps.set(
      line,
      promisify(execFile)(file, [...args, "--help"], { env, timeout: TIMEOUT_MS }).then(({ stdout }) => stdout),
    );
  return helps.get(line);
}

/** Asserts that a program knows a command: its name, as many words behind it, and all of its options. */
async function expectKnown(file, name, args) {
  const at = args.findIndex((arg) => arg.startsWith("-"));
  const plain = at < 0 ? args : args.slice(0, at);
  const text = await help(file, ...plain);
  const usage =
    text.match(new RegExp(`^(?:Usage: )?${name} .*$|^${name}$`, "m"))?.[0] ??
    assert.fail(`no usage of ${args}:\n${text}`);
  const [parts, takes] = [
    usage.replace(/^Usage: /, "").split(" "),
    usage.match(/<\S+>|\[(?!OPTIONS)[A-Za-z-]+\]/g) ?? [],
  ];
  const path = parts.slice(1).filter((part) => /^[a-z]/.test(part));
  assert.deepEqual(plain.slice(0, path.length), path, `${name} ${args.join(" ")} is not known:\n${text.slice(0, 300)}`);
  assert.ok(
    path.length > 0 && plain.length - path.length <= takes.length,
    `${usage} takes fewer words than ${args.join(" ")}`,
  );
  for (const option of args.filter((arg) => arg.startsWith("--"))) {
    assert.match(
      text,
      new RegExp(`(?:^|[\\s,])${option.split("=")[0]}(?=[\\s,=]|$)`, "m"),
      `${usage} has no ${option}`,
    );
  }
}

/** Asserts that a command that is not run exists, whoever it is of. */
export async function expectCommand([first, ...rest]) {
  if (first === "npx") return expectKnown(wrangler, "wrangler", rest.slice(rest.indexOf("wrangler") + 1));
  assert.equal(first, "npm", `${first} is no command that is known here`);
  if (rest[0] === "pack") return assert.ok(existsSync(join(root, rest[1], "package.json")));
  const script = rest[0] === "run" ? rest[1] : rest[0];
  assert.ok(SCRIPTS[script], `package.json has no script \`${script}\``);
  const all = rest.includes("--") ? rest.slice(rest.indexOf("--") + 1) : [];
  const options = script === "start" ? passedOn(all) : all;
  if (options.length === 0) return undefined;
  const operator = SCRIPTS[script].match(/^node scripts\/operator\.mjs ([\w-]+)$/)?.[1];
  if (operator) return expectKnown(program, "connector-vault", [operator, ...options]);
  // These two pass the options that they do not know on to wrangler.
  const command = { start: "dev", deploy: "deploy" }[script];
  if (command) return expectKnown(wrangler, "wrangler", [command, ...options]);
  const source = readFileSync(join(root, SCRIPTS[script].match(/^node (\S+)$/)[1]), "utf8");
  for (const option of options.filter((option) => option.startsWith("--")))
    assert.match(source, new RegExp(`\\b${option.slice(2)}\\b`), `\`${script}\` has no option ${option}`);
  return undefined;
}
