// Runs the service locally, with a catalog and a demo key: `npm start`, and `connector-vault-server start`.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fingerprint, isStamped, stamp } from "../lib/fingerprint.mjs";
import { withLock } from "../lib/lock.mjs";
import { work } from "../lib/paths.mjs";
import { asksForHelp } from "../lib/problem.mjs";
import { run } from "../lib/run.mjs";
import { elapsed, log, print, task, finishedTasks } from "../lib/status.mjs";
import { settleAll } from "../lib/settle-all.mjs";
import { START_SECONDS, importCatalog, publishCatalog } from "./catalog.mjs";
import { runClock } from "./clock.mjs";
import { seedDemoAccount } from "./demo-connections.mjs";
import { demoKey, ensureKeyWorks } from "./demo-key.mjs";
import { importConnector, removeConnector, setClient, startPlatform } from "./demo-platform.mjs";
import { configureSignIn } from "./demo-sign-in.mjs";
import { HELP, ensurePortIsFree, options } from "./options.mjs";
import { ensureNotServed, recordServing, removeServing } from "./running.mjs";
import { ensureSecrets, watchSecrets } from "./secrets.mjs";
import { serve } from "./serve.mjs";
import { welcome } from "./welcome.mjs";

/** If a start takes longer than this, the durations of its steps are printed. */
const SLOW_START_MS = 20_000;

async function migrateState(program, { state, storageArgs }) {
  const stampFile = join(state, "v3", "d1", ".migrated");
  const digest = fingerprint(["schema"], [readFileSync(join(work, "wrangler.toml"), "utf8")]);
  if (isStamped(stampFile, digest)) return;
  await task("local database migrated", (detail) => run(program, ["migrate", ...storageArgs], { detail }));
  stamp(stampFile, digest);
}

/** Writes the URL of the service to a file, so that `clients` can print the redirect URI. */
function writeAddress(state, address) {
  writeFileSync(join(state, "v3", "address"), `${address}\n`);
}

/** Prints the duration of each step of a slow start. */
function printDurations(took) {
  if (took < SLOW_START_MS) return;
  const longest = finishedTasks.filter((step) => step.took >= 1000).sort((a, b) => b.took - a.took);
  log(`\nReady after ${elapsed(took)}. The slowest steps, which partly ran in parallel:`);
  for (const step of longest) log(`  ${elapsed(step.took).padStart(12)}  ${step.label}`);
  log();
}

/**
 * @param {string[]} args
 * @param {() => Promise<{ program: string, build: () => Promise<unknown> }>} prepare returns the path of the command-line
 *   program, and a function that builds the Worker and the site
 * @returns {Promise<number | undefined>} the exit code
 */
export async function start(args, prepare) {
  if (asksForHelp(args)) return print(HELP);
  const parsedOptions = options(args);
  await ensureNotServed(parsedOptions.state);
  await ensurePortIsFree(parsedOptions.port, parsedOptions.host);
  if (parsedOptions.hasDemo) await ensurePortIsFree(parsedOptions.demoPort, "127.0.0.1", "--demo-port");
  const startedAt = Date.now();
  const { program, build } = await prepare();
  const storage = withLock("start", "it makes the catalog and the demo account", async () => {
    // Migrates first, because this step fails if an earlier commit has created the database.
    await migrateState(program, parsedOptions);
    await importCatalog(program, { hasSources: parsedOptions.hasSources, seconds: START_SECONDS });
    // The platform starts before its connector is imported, because the connector contains its URL.
    const demo = parsedOptions.hasDemo ? await startPlatform(parsedOptions) : undefined;
    if (demo) await importConnector(program, parsedOptions, demo);
    else removeConnector(parsedOptions.state);
    await publishCatalog(program, parsedOptions);
    if (parsedOptions.shards)
      await run(program, ["shards", "add", "--total", parsedOptions.shards, ...parsedOptions.storageArgs]);
    ensureSecrets();
    if (demo) await setClient(program, parsedOptions);
    await seedDemoAccount(program, parsedOptions);
    return demo;
  });
  const [demo] = await settleAll([storage, build()]);
  const key = await demoKey(program, parsedOptions);
  printDurations(Date.now() - startedAt);
  return serve(parsedOptions, async (address) => {
    demo?.register(address, key);
    await ensureKeyWorks(key, parsedOptions, address);
    writeAddress(parsedOptions.state, address);
    recordServing(parsedOptions.state, address);
    runClock(address);
    watchSecrets();
    const agents = await configureSignIn(parsedOptions, address, key, demo);
    process.stdout.write(welcome(address, key, demo?.origin, agents));
  }).finally(() => {
    removeServing(parsedOptions.state);
    return demo?.close();
  });
}
