// `npm start`: from a fresh clone to a running service with a real catalog and a key to try it.
//
//   npm start -- --help         says so too
//   npm start -- --log          prints a line for each request, too
//   npm start -- --shards 3     adds local databases, and binds them in wrangler.toml, until there are three
//   npm start -- --no-demo      leaves out the demo platform
//   npm start -- --no-sources   makes the catalog of the installed npm packages alone
//   npm start -- --port 9000    all other options reach `wrangler dev`
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
import { elapsed, print, say, task, times } from "./lib/status.mjs";
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

/** What takes longer is accounted for. */
const LONG_MS = 20_000;

async function migrateState(program, { state, place }) {
  const stampFile = join(state, "v3", "d1", ".migrated");
  const wanted = fingerprint(["migrations", "wrangler.toml"]);
  if (isStamped(stampFile, wanted)) return;
  await task("local database migrated", (detail) => run(program, ["migrate", ...place], { detail }));
  stamp(stampFile, wanted);
}

/** Notes where the service is, so that `clients` can print the redirect URI. */
function noteAddress(state, address) {
  writeFileSync(join(state, "v3", "address"), `${address}\n`);
}

/** Says what a first start was spent on. */
function summarize(took) {
  if (took < LONG_MS) return;
  const longest = times.filter(({ took: each }) => each >= 1000).sort((a, b) => b.took - a.took);
  say(`\nReady to serve after ${elapsed(took)}; several at once took:`);
  for (const { label, took: each } of longest) say(`  ${elapsed(each).padStart(12)}  ${label}`);
  say();
}

await main(async () => {
  if (asksForHelp(process.argv)) return print(HELP);
  const given = options(process.argv.slice(2));
  await mustBeFree(given.port, given.host);
  if (given.hasDemo) await mustBeFree(given.demoPort, "127.0.0.1", "--demo-port");
  const start = Date.now();
  // Two of cargo's builds at once keep two cores busy, also where each waits for a single crate.
  const compile = async (tools) => {
    await together([nativeCli(), compileWorker(tools)]);
    await compilePackage(tools);
  };
  const tools = await setup({ meanwhile: compile });
  const program = await nativeCli();
  const storage = locked("start", "it makes the catalog and the demo account", async () => {
    await importCatalog(program, { hasSources: given.hasSources, seconds: START_SECONDS });
    // It listens first, since its address is a part of its connector.
    const demo = given.hasDemo ? await startPlatform(given) : undefined;
    if (demo) await importConnector(program, given, demo);
    else removeConnector(given.state);
    await publishCatalog(program, given);
    if (given.shards) await run(program, ["shards", "add", "--total", given.shards, ...given.place]);
    await migrateState(program, given);
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
