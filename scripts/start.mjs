// `npm start`: sets up, builds and runs the service locally, with a real catalog and a demo key.
//
//   npm start -- --help         lists the options
//   npm start -- --log          logs each request
//   npm start -- --shards 3     adds local databases, bound in wrangler.toml, until there are three
//   npm start -- --no-demo      does not start the demo platform
//   npm start -- --no-sources   builds the catalog only from the installed npm packages
//   npm start -- --port 9000    other options are passed to `wrangler dev`
import { compilePackage } from "./build-package.mjs";
import { buildSite } from "./build-site.mjs";
import { buildWorker, compileWorker } from "./build-worker.mjs";
import { buildNativeCli } from "./lib/native-cli.mjs";
import { main } from "./lib/problem.mjs";
import { settleAll } from "./lib/settle-all.mjs";
import { setup } from "./setup.mjs";
import { start } from "./start/start.mjs";

/** Installs missing tools, and compiles the command-line program, which local storage needs. */
async function prepare() {
  // Two cargo builds in parallel use both cores, even while each compiles a single crate.
  const compile = async (tools) => {
    await settleAll([buildNativeCli(), compileWorker(tools)]);
    await compilePackage(tools);
  };
  const tools = await setup({ meanwhile: compile });
  return { program: await buildNativeCli(), build: () => settleAll([buildWorker(tools), buildSite(tools)]) };
}

await main(() => start(process.argv.slice(2), prepare));
