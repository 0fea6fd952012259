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
 * The steps in order: `title`, `would` (what a dry run prints; undefined if the step is done) and `does`.
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
  const missing = unboundDatabases().map(nameOf);
  /** Replaces the placeholder in wrangler.toml with the id that `create` returns. */
  const bind = async (placeholder, create) => {
    if (!placeholder.test(cloudflare.config)) return;
    const id = await create();
    cloudflare.configure(cloudflare.config.replace(placeholder, `$1${id}`));
  };
  const keyFile = join(folder, KEY_FILE);
  const secrets = {};
  return [
    { title: "signed in to Cloudflare", does: () => cloudflare.mustBeSignedIn() },
    {
      title: "KV namespace of the catalog",
      would:
        NAMESPACE.test(config) && `find or create the KV namespace ${CATALOG}, and write its id into wrangler.toml`,
      does: () => bind(NAMESPACE, () => cloudflare.namespace(CATALOG)),
    },
    {
      title: "D1 database",
      would:
        missing.length > 0 &&
        `find or create the D1 database ${missing.join(", ")}, and write its id into wrangler.toml`,
      does: async () => {
        for (const table of unboundDatabases()) {
          const id = await cloudflare.database(nameOf(table));
          cloudflare.configure(cloudflare.config.replace(table, table.replace(DATABASE, `$1${id}`)));
        }
      },
    },
    {
      title: "queue",
      would: queue && `create the queue ${queue} if there is none`,
      does: async () => queue && cloudflare.queue(queue),
    },
    {
      title: "catalog format",
      does: async () => {
        const versions = JSON.parse(await operator(["catalog", "list", "--json"]));
        if (!versions.some(({ current, format }) => current && format === null)) return;
        throw new Problem("The published catalog has the format of another commit: this Worker can't read it.", {
          hint: "Delete the record that names it. The next `npm run deploy` publishes a catalog again.\n  npx wrangler kv key delete current --binding CATALOG --remote",
        });
      },
    },
    {
      title: "tables",
      would: "apply the files of schema/ that a database lacks",
      does: (detail) => operator(["migrate"], { detail }),
    },
    {
      title: "secrets",
      would: `generate SESSION_SECRET and VAULT_KEYS if the Worker has none; the copy of VAULT_KEYS is ${KEY_FILE}`,
      does: async () => {
        const present = await cloudflare.secrets();
        if (!present.includes("SESSION_SECRET")) secrets.SESSION_SECRET = randomBytes(32).toString("base64url");
        if (present.includes("VAULT_KEYS")) return;
        // Both fail if rows need a key that is not in the file, and name that key.
        await operator(["vault-keys", existsSync(keyFile) ? "status" : "rotate", "--file", KEY_FILE]);
        secrets.VAULT_KEYS = readFileSync(keyFile, "utf8").trim();
        results.keyFile = KEY_FILE;
      },
    },
    {
      title: "Worker deployed",
      would: "deploy the Worker with these secrets",
      does: async () => {
        results.addresses = await cloudflare.deploy(args, secrets);
      },
    },
    {
      title: "catalog published",
      would: "publish the catalog in .catalog, or the sample catalog, if none is served yet",
      does: async (detail) => {
        if (await cloudflare.servesCatalog()) return;
        await catalog();
        await operator(["catalog", "publish"], { detail });
      },
    },
    {
      title: "first API key",
      would: `create a key for the account ${ACCOUNT}, environment live, if there is no key yet, and print it`,
      does: async () => {
        if (JSON.parse(await operator(["keys", "list", "--json"])).length > 0) return;
        const create = ["keys", "create", "--account", ACCOUNT, "--environment", "live", "--json"];
        results.key = JSON.parse(await operator(create)).secret;
      },
    },
  ];
}

/** Runs the steps. If one fails, the error lists the completed steps and how to resume. */
export async function perform(all) {
  const done = [];
  for (const { title, does } of all) {
    try {
      await task(title, does);
    } catch (error) {
      const before = done.length > 0 ? `Completed before that: ${done.join(", ")}.` : "Nothing was changed.";
      const resumeHint = "Then run `npm run deploy` again: it resumes where it stopped.";
      const { message, hint, output, code } = error;
      throw new Problem(message, { hint: [hint, before, resumeHint].filter(Boolean).join("\n"), output, code });
    }
    done.push(title);
  }
}

/** Prints what the steps would do. */
export function announce(all) {
  log("\n`npm run deploy` would run these steps, and skip those that are already done:");
  for (const [at, { would }] of all.filter(({ would }) => would).entries()) log(`  ${at + 1}. ${would}`);
}
