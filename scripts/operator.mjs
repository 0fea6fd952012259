// `npm run catalog -- …`, `keys`, `vault-keys`, `clients`, `agents`, `audit`, `shards`, `seed`, `migrate` and `openapi`: builds the operator's command line and runs it.
// Messages of this script go to stderr; stdout is that of the command.
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { root } from "./lib/paths.mjs";
import { main } from "./lib/problem.mjs";
import { environment } from "./lib/run.mjs";
import { nativeCli } from "./lib/native-cli.mjs";
import { npmPackages } from "./setup/npm-packages.mjs";

await main(async () => {
  await npmPackages();
  const program = await nativeCli();
  return new Promise((resolve, reject) => {
    const child = spawn(program, process.argv.slice(2), { cwd: root, env: environment(), stdio: "inherit" });
    // The terminal sends Ctrl-C to the child too. The child decides what to do; this process exits with the status of the child.
    for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));
    child.on("error", reject);
    child.on("close", (code, signal) => resolve(code ?? 128 + (constants.signals[signal] ?? 0)));
  });
});
