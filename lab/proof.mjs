// `npm run proof [-- NAME …]`: runs all proofs, or some of them, and writes the results into docs/proof.md. Proofs test the
// service under extreme conditions, which takes hours; `npm test` checks a commit.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../scripts/lib/paths.mjs";
import { main, Problem } from "../scripts/lib/problem.mjs";
import { run } from "../scripts/lib/run.mjs";
import { elapsed, print, task } from "../scripts/lib/status.mjs";
import { installNpmPackages } from "../scripts/setup/npm-packages.mjs";
import { rust } from "../scripts/setup/rust.mjs";

const PAGE = join(root, "docs", "proof.md");
const RESULTS_SECTION = /(<!-- results: written by npm run proof -->\n)[^]*?(<!-- \/results -->)/;
const MAX_CELL_LENGTH = 160;

const lab = (...args) => ["npm", "run", "--silent", "lab", "--", ...args];
const native = (...tests) => ["cargo", "test", "--features", "cli", "--test", "api", "--", ...tests];

const COUNTS = /(?:pass|fail) \d+/g;
/** Test files in a browser or on the real runtime, with the tests that `npm test` leaves out. */
const e2e = (...names) => ({
  command: lab("test", ...names.map((name) => (name.startsWith("lab/") ? name : `tests/e2e/${name}.test.mjs`))),
  result: COUNTS,
});
const CONSOLE = ["audit", "connecting", "connections", "connectors", "logos", "overview", "session", "try"].map(
  (name) => `console/${name}`,
);
/** The native API tests on the data of an account. */
const ACCOUNT_PROOFS = [
  "access",
  "call",
  "connect",
  "keys",
  "last_use",
  "sessions",
  "tokens",
  "usage",
  "vault",
  "webhooks",
];

/**
 * The proofs, the fastest first, each with its command. `result` matches the result in the output; without it, the result is the last
 * line. CONNECTOR_VAULT_PROOF makes native tests send 100,000 random requests.
 */
const PROOFS = {
  agents: { command: native("agents::attacks", "agents::random"), result: /test result: .*? failed/g },
  tenants: { command: native("tenants::", "tokens::", "connect::random"), result: /test result: .*? failed/g },
  audit: { command: native("audit::"), result: /test result: .*? failed/g },
  "model-based": {
    command: native("connect::histories", "vault_model::", "properties::", "walk::", "connect::events", "slices::"),
    result: /test result: .*? failed/g,
  },
  faults: {
    command: native("faults::", "moves::", "storage::", "connect::schedule"),
    result: /test result: .*? failed/g,
  },
  directory: {
    command: ["cargo", "test", "--features", "cli", "--test", "openapi_directory", "--", "--ignored"],
    result: /test result: .*? failed/g,
  },
  // With this variable, the native API tests store accounts in a second database.
  shard: {
    command: [...native(...ACCOUNT_PROOFS), "--skip", "schedule"],
    env: { CONNECTOR_VAULT_TEST_SHARD: "1234" },
    result: /test result: .*? failed/g,
  },
  timing: { command: [...native("timing::"), "--ignored"], result: /test result: .*? failed/g },
  killed: { command: lab("test", "lab/tests/killed.test.mjs"), result: COUNTS },
  rotation: e2e("rotation"),
  console: e2e(...CONSOLE, "connect-window"),
  reference: e2e("reference"),
  connecting: e2e("connect"),
  runtime: e2e("run", "calls", "lab/tests/calls-s3.test.mjs", "shards", "seed"),
  clients: e2e("agents", "agent-sign-in", "lab/tests/agent-clients.test.mjs"),
  commands: e2e("storage", "deploy", "server-package", "projects"),
  documentation: e2e("docs", "lab/tests/demo.test.mjs"),
  "generated-clients": { command: lab("generated-clients"), result: /\d+ generated clients.*/g },
  hono: { command: lab("test", "lab/tests/hono.test.mjs"), result: COUNTS },
  graphql: {
    command: lab("test", "lab/tests/formats.test.mjs"),
    result: /\d+ of \d+ actions of (?:GraphQL|Discovery)[^\n]*/g,
  },
  platforms: { command: lab("test", "lab/tests/platforms.test.mjs"), result: /\d+ of \d+ journeys.*/g },
  frameworks: { command: lab("test", "lab/tests/frameworks.test.mjs"), result: COUNTS },
  examples: { command: lab("test", "lab/tests/examples.test.mjs"), result: COUNTS },
  schemathesis: { command: lab("schemathesis", "--examples", "1000"), result: /[\d,]+ generated.*/g },
  "actions-proof": { command: lab("actions-proof"), result: /\d+ (?:actions|valid|inputs).*/g },
  "catalog-proof": { command: lab("catalog-proof"), result: /\d+ (?:actions|inputs).*/g },
  "packaged-killed": { command: lab("test", "lab/tests/packaged-killed.test.mjs"), result: /10 kills, .* lost/g },
  load: { command: lab("load"), result: /[\d,]+ requests.*/g },
  "packaged-load": { command: lab("load", "--packaged", "--connections", "10000"), result: /[\d,]+ requests.*/g },
  reproducible: { command: ["npm", "run", "--silent", "reproducible"], result: /All .*/g },
  mutants: { command: ["npm", "run", "--silent", "mutants"], result: /\d+ of \d+ changes.*/g },
  soak: { command: lab("soak") },
  fuzz: { command: lab("fuzz", "--runs", "1000000"), result: /[\d,]+ inputs in all.*/g },
};

/** The result in the output of a proof, as a cell of a table. */
export function resultOf(output, pattern) {
  const lines = output.split("\n").filter((line) => line.trim() !== "");
  const match = pattern ? output.match(pattern) : lines.slice(-1);
  const text = (match ?? lines.slice(-1)).join("; ").replaceAll("|", "\\|").trim();
  return text.length > MAX_CELL_LENGTH ? `${text.slice(0, MAX_CELL_LENGTH)}…` : text;
}

/** Adds results to the page. Keeps the rows of proofs that did not run. */
export function withResults(page, results) {
  if (!RESULTS_SECTION.test(page)) throw new Problem("docs/proof.md has no section for results.");
  const [, , ...before] = page.match(RESULTS_SECTION)[0].match(/^\|.*\|$/gm) ?? [];
  const rows = new Map(before.map((row) => [row.split("|")[1].trim(), row]));
  for (const [name, row] of results) rows.set(name, row);
  const table = ["| proof | command | result | took | date |", "|---|---|---|---|---|"];
  for (const name of Object.keys(PROOFS)) if (rows.has(name)) table.push(rows.get(name));
  return page.replace(RESULTS_SECTION, (_, begin, end) => `${begin}${table.join("\n")}\n${end}`);
}

async function prove(name) {
  const { command, result, env } = PROOFS[name];
  const start = Date.now();
  const outcome = await task(name, async (detail) => {
    const [program, ...args] = command;
    const output = await run(program, args, { env: { CONNECTOR_VAULT_PROOF: "1", ...env }, detail });
    return resultOf(output, result);
  });
  const variables = Object.entries(env ?? {}).map(([variable, value]) => `${variable}=${value}`);
  const commandLine = [...variables, ...command.filter((word) => word !== "--silent")].join(" ");
  const today = new Date().toISOString().slice(0, 10);
  const row = `| ${name} | \`${commandLine}\` | ${outcome} | ${elapsed(Date.now() - start)} | ${today} |`;
  writeFileSync(PAGE, withResults(readFileSync(PAGE, "utf8"), [[name, row]]));
  print(`${name}: ${outcome}`);
}

if (process.argv[1] === import.meta.filename) {
  await main(async () => {
    const requestedNames = process.argv.slice(2);
    const unknown = requestedNames.filter((name) => !(name in PROOFS));
    if (unknown.length > 0) {
      const hint = `Proofs: ${Object.keys(PROOFS).join(", ")}.`;
      throw new Problem(`Unknown proof: ${unknown.join(", ")}.`, { hint, code: 2 });
    }
    await rust();
    await installNpmPackages();
    const failed = [];
    for (const name of requestedNames.length > 0 ? requestedNames : Object.keys(PROOFS)) {
      try {
        await prove(name);
      } catch (error) {
        failed.push(name);
        print(`${name}: ${error.message}\n${error.output ?? ""}`);
      }
    }
    if (failed.length > 0) throw new Problem(`Failed proofs: ${failed.join(", ")}.`);
  });
}
