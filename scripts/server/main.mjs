// The command `connector-vault-server` of the npm package, with the code of `npm start`, `npm run deploy` and `npm run keys` …
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { deploy } from "../deploy/deploy.mjs";
import { exportConnections } from "../export/command.mjs";
import { importConnections } from "../import/command.mjs";
import { operate } from "../lib/operate.mjs";
import { root } from "../lib/paths.mjs";
import { main } from "../lib/problem.mjs";
import { print } from "../lib/status.mjs";
import { start } from "../start/start.mjs";
import { prebuilt } from "./prebuilt.mjs";
import { init, linkPackage, ensureProjectIsSetUp } from "./project.mjs";

const HELP = `Usage: connector-vault-server <command> [options]

  start    serve http://localhost:8787 with a catalog, a demo key and a demo platform
  init     write wrangler.toml, package.json and .gitignore into this folder, so that you own your configuration
  deploy   deploy to your Cloudflare account; later, upgrade it
  import   move connections in from Nango, Composio or a file
  export   write all connections, encrypted with age
  catalog, keys, clients, vault-keys, shards, agents, audit, migrate, seed, openapi
           manage the service on this machine or, with --remote, the deployed one

Run it in a folder of its own. Each command has --help.`;

/** Takes the place of steps that install or build, because the npm package contains the builds. */
const skipStep = async () => {};

await main(async () => {
  const [command, ...args] = process.argv.slice(2);
  if (["-V", "--version"].includes(command)) {
    print(JSON.parse(readFileSync(join(root, "package.json"), "utf8")).version);
    return 0;
  }
  if (command === undefined || ["-h", "--help", "help"].includes(command)) {
    print(HELP);
    return command === undefined ? 2 : 0;
  }
  switch (command) {
    case "init":
      return init();
    case "start":
      return start(args, async () => {
        // Checked first, so that nothing is written on a machine that can't run the program.
        const program = prebuilt();
        init();
        return { program, build: skipStep };
      });
    case "deploy":
      return deploy(args, {
        install: async () => ensureProjectIsSetUp(),
        build: async () => ensureProjectIsSetUp(),
        program: async () => prebuilt(),
      });
    case "import":
      return importConnections(args);
    case "export":
      return exportConnections(args, async () => prebuilt());
    default:
      linkPackage();
      return operate(prebuilt(), [command, ...args]);
  }
});
