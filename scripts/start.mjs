// `npm start`: sets up and runs the service locally, with a real catalog and a demo key.
//
//   npm start -- --help         lists the options
//   npm start -- --log          logs each request
//   npm start -- --shards 3     adds local databases, bound in wrangler.toml, until there are three
//   npm start -- --no-demo      does not start the demo platform
//   npm start -- --no-sources   builds the catalog only from the installed npm packages
//   npm start -- --port 9000    other options are passed to `wrangler dev`
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { compilePackage } from "./build-package.mjs";
import { buildSite } from "./build-site.mjs";
import { buildWorker, compileWorker } from "./build-worker.mjs";
import { fingerprint, isStamped, stamp } from "./lib/fingerprint.mjs";
import { nativeCli } from "./lib/native-cli.mjs";
import { locked } from "./lib/lock.mjs";
import { asksForHelp, main } from "./lib/problem.mjs";
import { run } from "./lib/run.mjs";
import { elapsed, print, log, task, times } from "./lib/status.mjs";
import { together } from "./lib/together.mjs";
import { setup } from "./setup.mjs";
import { runClock } from "./start/clock.mjs";
import { START_SECONDS, importCatalog, publishCatalog } from "./start/catalog.mjs";
import { seedDemoAccount } from "./start/demo-connections.mjs";
import { demoKey, mustWork } from "./start/demo-key.mjs";
import { importConnector, removeConnector, setClient, startPlatform } from "./start/demo-platform.mjs";
import { configureSignIn } from "./start/demo-sign-in.mjs";
import { HELP, mustBeFree, options } from "./start/options.mjs";
import { ensureSecrets, watchSecrets } from "./start/secrets.mjs";
import { serve } from "./start/serve.mjs";
import { welcome } from "./start/welcome.mjs";

/** If the start takes longer, its steps are listed with their durations. */
const LONG_MS = 20_000;

async function migrateState(program, { state, place }) {
  const stampFile = join(state, "v3", "d1", ".migrated");
  const wanted = fingerprint(["schema", "wrangler.toml"]);
  if (isStamped(stampFile, wanted)) return;
  await task("local database migrated", (detail) => run(program, ["migrate", ...place], { detail }));
  stamp(stampFile, wanted);
}

/** Writes the URL of the service to a file, so that `clients` can print the redirect URI. */
function noteAddress(state, address) {
  writeFileSync(join(state, "v3", "address"), `${address}\n`);
}

/** Prints the duration of each step of a slow start. */
function summarize(took) {
  if (took < LONG_MS) return;
  const longest = times.filter(({ took: each }) => each >= 1000).sort((a, b) => b.took - a.took);
  log(`\nReady after ${elapsed(took)}. The slowest steps, which partly ran in parallel:`);
  for (const { label, took: each } of longest) log(`  ${elapsed(each).padStart(12)}  ${label}`);
  log();
}

await main(async () => {
  if (asksForHelp(process.argv)) return print(HELP);
  const given = options(process.argv.slice(2));
  await mustBeFree(given.port, given.host);
  if (given.hasDemo) await mustBeFree(given.demoPort, "127.0.0.1", "--demo-port");
  const start = Date.now();
  // Two cargo builds in parallel use both cores, even while each compiles a single crate.
  const compile = async (tools) => {
    await together([nativeCli(), compileWorker(tools)]);
    await compilePackage(tools);
  };
  const tools = await setup({ meanwhile: compile });
  const program = await nativeCli();
  const storage = locked("start", "it makes the catalog and the demo account", async () => {
    // First, because it stops if an earlier commit has created the database.
    await migrateState(program, given);
    await importCatalog(program, { hasSources: given.hasSources, seconds: START_SECONDS });
    // Started first, because its URL is part of its connector.
    const demo = given.hasDemo ? await startPlatform(given) : undefined;
    if (demo) await importConnector(program, given, demo);
    else removeConnector(given.state);
    await publishCatalog(program, given);
    if (given.shards) await run(program, ["shards", "add", "--total", given.shards, ...given.place]);
    ensureSecrets();
    if (demo) await setClient(program, given);
    await seedDemoAccount(program, given);
    return demo;
  });
  const [demo] = await together([storage, buildWorker(tools), buildSite(tools)]);
  const key = await demoKey(program, given);
  summarize(Date.now() - start);
  return serve(given, async (address) => {
    demo?.register(address, key);
    await mustWork(key, given, address);
    noteAddress(given.state, address);
    runClock(address);
    watchSecrets();
    const agents = await configureSignIn(given, address, key, demo);
    process.stdout.write(welcome(address, key, demo?.origin, agents));
  }).finally(() => demo?.close());
});
