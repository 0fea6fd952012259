// Checks the commands in the examples of the documentation.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { experimental_getWranglerCommands } from "wrangler";
import { EXPERIMENTS } from "../../../lab/experiments.mjs";
import { program } from "../../../scripts/lib/native-cli.mjs";
import { root } from "../../../scripts/lib/paths.mjs";
import { operatorCommands, releaseVersion } from "../../../scripts/release/server-package.mjs";
import { wranglerOptions } from "../../../scripts/start/options.mjs";

const TIMEOUT_MS = 300_000;
export const SCRIPTS = JSON.parse(readFileSync(join(root, "package.json"), "utf8")).scripts;

/** The words of a command line, without quotes and comments. */
export const wordsOf = (line) =>
  [...line.matchAll(/(?:^|\s)#.*$|"([^"]*)"|(\S+)/g)].flatMap(([, quoted, bare]) => quoted ?? bare ?? []);
/** The commands of an example as words, without their input; `&&` separates commands as a line break does. */
export const commandsOf = (code) =>
  code
    .replaceAll("\\\n", " ")
    .replaceAll(/ < \S+/g, "")
    .split(/\n|&&/)
    .map(wordsOf)
    .filter((command) => command.length > 0);

/** The commands in wrangler's registry: nodes with `subtree` and `definition`. */
const { registry, globalFlags } = experimental_getWranglerCommands();

/** Asserts that wrangler has this command, with this number of arguments and these options. */
function expectWrangler(args) {
  const line = `wrangler ${args.join(" ")}`;
  const at = args.findIndex((arg) => arg.startsWith("-"));
  const plain = at < 0 ? args : args.slice(0, at);
  let node = registry;
  let depth = 0;
  for (; node.subtree.has(plain[depth]); depth += 1) node = node.subtree.get(plain[depth]);
  assert.equal(node.definition?.type, "command", `${line} is unknown`);
  const { args: known = {}, positionalArgs = [] } = node.definition;
  const takes = positionalArgs.some((name) => known[name].array) ? Number.POSITIVE_INFINITY : positionalArgs.length;
  assert.ok(plain.length - depth <= takes, `${line}: too many arguments`);
  const options = { ...globalFlags, ...known };
  for (const option of args.filter((arg) => arg.startsWith("--"))) {
    const name = option.slice(2).split("=")[0];
    const match = Object.entries(options).find(([one, { alias }]) => one === name || [alias].flat().includes(name));
    assert.ok(match && !match[1].hidden && !positionalArgs.includes(match[0]), `${line}: it has no option ${option}`);
  }
}

const helps = new Map();

/** The help of the operator's command, cached. */
function help(args) {
  const line = args.join(" ");
  if (!helps.has(line)) {
    const helpProcess = promisify(execFile)(program, [...args, "--help"], { timeout: TIMEOUT_MS });
    helps.set(
      line,
      helpProcess.then(({ stdout }) => stdout),
    );
  }
  return helps.get(line);
}

/** Asserts that the operator's command line has this command, with these options. */
async function expectOperator(args) {
  const at = args.findIndex((arg) => arg.startsWith("-"));
  const plain = at < 0 ? args : args.slice(0, at);
  const text = await help(plain);
  const usage = text.match(/^Usage: npm run .*$/m)?.[0] ?? assert.fail(`no usage of ${args}:\n${text}`);
  const [parts, takes] = [
    usage
      .replace(/^Usage: npm run /, "")
      .replace(" -- ", " ")
      .split(" "),
    usage.match(/<\S+>|\[(?!OPTIONS)[A-Za-z-]+\]/g) ?? [],
  ];
  const isList = /\]\.\.\.|>\.\.\./.test(usage);
  const path = parts.filter((part) => /^[a-z]/.test(part));
  assert.deepEqual(plain.slice(0, path.length), path, `${args.join(" ")} is unknown:\n${text.slice(0, 300)}`);
  assert.ok(
    path.length > 0 && (isList || plain.length - path.length <= takes.length),
    `${usage} takes fewer arguments than ${args.join(" ")}`,
  );
  for (const option of args.filter((arg) => arg.startsWith("--"))) {
    const known = new RegExp(`(?:^|[\\s,])${option.split("=")[0]}(?=[\\s,=]|$)`, "m");
    assert.match(text, known, `${usage} has no ${option}`);
  }
}

/** Asserts that a command exists without running it. */
export async function expectCommand(words) {
  // Every command has --help, and npm has --silent.
  const [first, ...rest] = words.filter((word) => word !== "--help" && word !== "--silent");
  if (first === "npx") return expectWrangler(rest.slice(rest.indexOf("wrangler") + 1));
  assert.equal(first, "npm", `${first} is not a known command`);
  if (rest[0] === "pack") return assert.ok(existsSync(join(root, rest[1], "package.json")));
  const script = rest[0] === "run" ? rest[1] : rest[0];
  assert.ok(SCRIPTS[script], `package.json has no script \`${script}\``);
  const all = rest.includes("--") ? rest.slice(rest.indexOf("--") + 1) : [];
  const options = script === "start" ? wranglerOptions(all) : all;
  if (options.length === 0) return undefined;
  const operator = SCRIPTS[script].match(/^node scripts\/operator\.mjs ([\w-]+)$/)?.[1];
  if (operator) return expectOperator([operator, ...options]);
  // `npm start` and `npm run deploy` pass unknown options to wrangler.
  const command = { start: "dev", deploy: "deploy" }[script];
  if (command) return expectWrangler([command, ...options]);
  const [, own, name = options[0]] = SCRIPTS[script].match(/^node (\S+?)(?: (\S+))?$/);
  if (own === "lab/run.mjs") assert.ok(name in EXPERIMENTS, `there is no experiment ${name}`);
  const sharedCommand = join("scripts", script, "command.mjs");
  const path = own === "lab/run.mjs" ? `lab/${name}.mjs` : existsSync(join(root, sharedCommand)) ? sharedCommand : own;
  const source = readFileSync(join(root, path), "utf8");
  for (const option of options.filter((option) => option.startsWith("--")))
    assert.match(source, new RegExp(`\\b${option.slice(2)}\\b`), `\`${script}\` has no option ${option}`);
  return undefined;
}

/** Asserts that a command installs packed files of a release, or is one of the package connector-vault-server. */
export function expectPacked([program, what, ...rest]) {
  if (program === "npx") {
    assert.equal(what, "connector-vault-server");
    assert.ok(["start", "init", "deploy", ...operatorCommands()].includes(rest[0]), `there is no command ${rest[0]}`);
    return;
  }
  assert.deepEqual([program, what], ["npm", "install"]);
  for (const file of rest) assert.match(file, /^\.\/connector-vault-server(-linux-x64)?-\d+\.\d+\.\d+\.tgz$/);
  for (const file of rest) assert.ok(file.endsWith(`-${releaseVersion()}.tgz`), file);
}
