// The steps of `npm run deploy`. Each step first checks whether it is already done, so that the command can be repeated: after a
// failure it resumes, and later it upgrades.
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Problem } from "../lib/problem.mjs";
import { run } from "../lib/run.mjs";
import { log, task } from "../lib/status.mjs";
import { Cloudflare } from "./cloudflare.mjs";

/** Matches a line of wrangler.toml, in any table, that sets the variable with which the service may call local addresses. */
const LOCAL_TARGETS = /^(?!\s*#).*\bLOCAL_TARGETS"?\s*=/m;
// The placeholders in wrangler.toml.
const NAMESPACE = /^(\s*id\s*=\s*")0{32}(?=")/m;
const DATABASES = /^\[\[d1_databases\]\]\n(?:(?!\[).+\n?)*/gm;
const DATABASE = /^(\s*database_id\s*=\s*")0{8}-0{4}-0{4}-0{4}-\d{12}(?=")/m;
const QUEUE = /^\s*queue\s*=\s*"([^"]+)"/m;
const DATABASE_NAME = /^\s*database_name\s*=\s*"([^"]+)"/m;
const CATALOG = "connector-vault-catalog";
/** The operator's copy of VAULT_KEYS, which git ignores. */
const KEY_FILE = "vault-keys.txt";
/** The account of the first key. */
const ACCOUNT = "main";

/**
 * Returns the steps in order: `title`, `plan` (the text for a dry run; falsy if the step is already done) and `execute`.
 * @param {{ folder: string, program: string, catalog: () => Promise<void>, args?: string[] }} project `program` is the
 *   operator's command line, `catalog` builds a catalog if there is none, `args` are for `wrangler deploy`
 * @param {{ addresses?: string[], key?: string, createdKeys?: boolean }} results receives results of the steps
 */
export function steps({ folder, program, catalog, args = [] }, results = {}) {
  const cloudflare = new Cloudflare(folder);
  if (LOCAL_TARGETS.test(cloudflare.config) || args.some((arg) => arg.includes("LOCAL_TARGETS")))
    throw new Problem("LOCAL_TARGETS must not be deployed: a deployed service must only call public addresses.", {
      hint: "Remove it from wrangler.toml, and from the options of this command. `npm start` sets it automatically.",
    });
  const operator = (command, options) => run(program, [...command, "--remote"], { cwd: folder, ...options });
  const { config } = cloudflare;
  const queue = config.match(QUEUE)?.[1];
  const unboundDatabases = () => (cloudflare.config.match(DATABASES) ?? []).filter((table) => DATABASE.test(table));
  const nameOf = (table) => table.match(DATABASE_NAME)?.[1];
  const missingDatabases = unboundDatabases().map(nameOf);
  /** Replaces the placeholder in wrangler.toml with the id that `create` returns. */
  const bind = async (placeholder, create) => {
    if (!placeholder.test(cloudflare.config)) return;
    const id = await create();
    cloudflare.configure(cloudflare.config.replace(placeholder, `$1${id}`));
  };
  const keyFile = join(folder, KEY_FILE);
  const secrets = {};
  return [
    { title: "signed in to Cloudflare", execute: () => cloudflare.ensureSignedIn() },
    {
      title: "KV namespace of the catalog",
      plan: NAMESPACE.test(config) && `find or create the KV namespace ${CATALOG}, and write its id into wrangler.toml`,
      execute: () => bind(NAMESPACE, () => cloudflare.namespace(CATALOG)),
    },
    {
      title: "D1 database",
      plan:
        missingDatabases.length > 0 &&
        `find or create the D1 database ${missingDatabases.join(", ")}, and write its id into wrangler.toml`,
      execute: async () => {
        for (const table of unboundDatabases()) {
          const id = await cloudflare.database(nameOf(table));
          cloudflare.configure(cloudflare.config.replace(table, table.replace(DATABASE, `$1${id}`)));
        }
      },
    },
    {
      title: "queue",
      plan: queue && `create the queue ${queue} if there is none`,
      execute: async () => queue && cloudflare.queue(queue),
    },
    {
      title: "catalog format",
      execute: async () => {
        const versions = JSON.parse(await operator(["catalog", "list", "--json"]));
        if (!versions.some(({ current, format }) => current && format === null)) return;
        throw new Problem("The published catalog has the format of another commit: this Worker can't read it.", {
          hint: "Delete the record that names it. The next `npm run deploy` publishes a catalog again.\n  npx wrangler kv key delete current --binding CATALOG --remote",
        });
      },
    },
    {
      title: "tables",
      plan: "apply the files of schema/ that a database lacks",
      execute: (detail) => operator(["migrate"], { detail }),
    },
    {
      title: "secrets",
      plan: `generate SESSION_SECRET and VAULT_KEYS if the Worker has none; the copy of VAULT_KEYS is ${KEY_FILE}`,
      execute: async () => {
        const existing = await cloudflare.secrets();
        if (!existing.includes("SESSION_SECRET")) secrets.SESSION_SECRET = randomBytes(32).toString("base64url");
        if (existing.includes("VAULT_KEYS")) return;
        // Both commands fail if rows need a key that is not in the file, and name that key.
        await operator(["vault-keys", existsSync(keyFile) ? "status" : "rotate", "--file", KEY_FILE]);
        secrets.VAULT_KEYS = readFileSync(keyFile, "utf8").trim();
        results.keyFile = KEY_FILE;
      },
    },
    {
      title: "Worker deployed",
      plan: "deploy the Worker with these secrets",
      execute: async () => {
        results.addresses = await cloudflare.deploy(args, secrets);
      },
    },
    {
      title: "catalog published",
      plan: "publish the catalog in .catalog, or the sample catalog, if none is served yet",
      execute: async (detail) => {
        if (await cloudflare.hasPublishedCatalog()) return;
        await catalog();
        await operator(["catalog", "publish"], { detail });
      },
    },
    {
      title: "first API key",
      plan: `create a key for the account ${ACCOUNT}, environment live, if there is no key yet, and print it`,
      execute: async () => {
        if (JSON.parse(await operator(["keys", "list", "--json"])).length > 0) return;
        const create = ["keys", "create", "--account", ACCOUNT, "--environment", "live", "--json"];
        results.key = JSON.parse(await operator(create)).secret;
      },
    },
  ];
}

/** Runs the steps. If one fails, the error lists the completed steps and how to resume. */
export async function runSteps(allSteps) {
  const completed = [];
  for (const { title, execute } of allSteps) {
    try {
      await task(title, execute);
    } catch (error) {
      const before = completed.length > 0 ? `Completed before that: ${completed.join(", ")}.` : "Nothing was changed.";
      const resumeHint = "Then run `npm run deploy` again: it resumes where it stopped.";
      const { message, hint, output, code } = error;
      throw new Problem(message, { hint: [hint, before, resumeHint].filter(Boolean).join("\n"), output, code });
    }
    completed.push(title);
  }
}

/** Prints the plan of each step that has something to do. */
export function printPlan(allSteps) {
  log("\n`npm run deploy` runs these steps, and skips those that are already done:");
  for (const [index, { plan }] of allSteps.filter(({ plan }) => plan).entries()) log(`  ${index + 1}. ${plan}`);
}
