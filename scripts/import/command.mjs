// The command `import`: moves connections from another service or a file into this one. Prints a report of each row to stdout,
// but never a secret.
import { parseArgs } from "node:util";
import { readMap } from "./platforms.mjs";
import { runImport } from "./run.mjs";
import { Service } from "./service.mjs";
import { asksForHelp, Problem } from "../lib/problem.mjs";
import { log } from "../lib/status.mjs";

const FORMATS = ["nango", "composio", "csv"];
const IDENTITY_TYPES = ["user", "team", "organization", "project"];
const LABELS = ["default", "integration", "connection"];

const HELP = `Usage: npm run import -- nango|composio|csv FILE [options]

Moves connections into the service. It can be stopped and run again: existing connections stay unchanged.
FILE is - for standard input. The variable VAULT_KEY must contain an API key with the scopes
credentials:write and catalog:read.

  --cut-over             the former service has stopped refreshing: from now on, this one does
  --dry-run              only check the file, its platforms and, if the key has the scope clients:read, OAuth clients
  --map FILE             a JSON object from names of the former service to platforms here
  --url URL              the service; default: the variable VAULT_URL, or http://localhost:8787
  --identity-type TYPE   ${IDENTITY_TYPES.join(", ")}; default: user
  --label LABEL          default; integration or connection: the former service's id of it
`;

const requireOneOf = (option, value, values) => {
  if (!values.includes(value)) throw new Problem(`--${option} must be one of ${values.join(", ")}.`, { code: 2 });
  return value;
};

/** Converts an unexpected error to a problem with its location only, because its message may contain a part of the file. */
function withoutMessage(error) {
  if (error instanceof Problem || String(error?.code).startsWith("ERR_PARSE_ARGS_")) return error;
  const frames = String(error?.stack)
    .split("\n")
    .filter((line) => /^ {4}at /.test(line));
  return new Problem(`The import failed: ${error?.name ?? "unknown error"}.`, { output: frames.join("\n") });
}

async function run(args) {
  if (asksForHelp(args)) {
    process.stdout.write(HELP);
    return 0;
  }
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      "cut-over": { type: "boolean", default: false },
      "dry-run": { type: "boolean", default: false },
      "identity-type": { type: "string", default: "user" },
      label: { type: "string", default: "default" },
      map: { type: "string" },
      url: { type: "string" },
    },
  });
  const [format, file, ...others] = positionals;
  if (!FORMATS.includes(format) || file === undefined || others.length > 0)
    throw new Problem("Use `npm run import -- nango|composio|csv FILE`.", {
      hint: "See `npm run import -- --help`.",
      code: 2,
    });
  const key = process.env.VAULT_KEY;
  if (!key)
    throw new Problem("Set the variable VAULT_KEY to an API key.", {
      hint: "It needs the scopes `credentials:write` and `catalog:read`.",
      code: 2,
    });
  const options = {
    format,
    file,
    map: values.map === undefined ? {} : readMap(values.map),
    service: new Service(values.url ?? process.env.VAULT_URL ?? "http://localhost:8787", key),
    identityType: requireOneOf("identity-type", values["identity-type"], IDENTITY_TYPES),
    label: requireOneOf("label", values.label, LABELS),
    cutOver: values["cut-over"],
    dryRun: values["dry-run"],
  };
  const { counts, leftOut, unchecked } = await runImport(options, (line) => process.stdout.write(`${line}\n`));
  const rows = Object.values(counts).reduce((sum, count) => sum + count, 0);
  log(
    `${rows} rows: ${
      Object.entries(counts)
        .map(([outcome, count]) => `${count} ${outcome}`)
        .join(", ") || "none"
    }`,
  );
  const leftOutText = Object.entries(leftOut).map(([name, number]) => `${name} (${number} rows)`);
  if (leftOutText.length > 0)
    log(`Left out, because a connection here can't have it: ${leftOutText.join(", ")}. See docs/moving.md.`);
  if (unchecked.length > 0)
    log(
      `Not checked: whether the service has the OAuth clients of ${unchecked.join(", ")}. Give the key the scope clients:read, or set them before the import.`,
    );
  if (!options.cutOver && !options.dryRun && (counts.created || counts.updated))
    log(
      "Nothing is refreshed here yet. When the former service has stopped, export again, and import with --cut-over.",
    );
  return counts.failed ? 1 : 0;
}

/** @param {string[]} args @returns {Promise<number>} the exit code */
export const importConnections = (args) =>
  run(args).catch((error) => {
    throw withoutMessage(error);
  });
