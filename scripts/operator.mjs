// `npm run catalog -- …`, `keys`, `vault-keys`, `clients`, `agents`, `audit`, `shards`, `seed`, `migrate` and `openapi`: builds the operator's command line and runs it.
// Whatever this says itself goes to stderr; stdout is the command's.
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
    // Ctrl-C reaches the child by itself; it decides, and this passes on how it ended.
    for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));
    child.on("error", reject);
    child.on("close", (code, signal) => resolve(code ?? 128 + (constants.signals[signal] ?? 0)));
  });
});
