// Runs the operator's command line. Its messages go to stderr; stdout has only the command's output.
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { work } from "./paths.mjs";
import { environment } from "./run.mjs";

/** @returns {Promise<number>} the exit code */
export function operate(program, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: work, env: environment(), stdio: "inherit" });
    // The terminal sends Ctrl-C to the child too. The child decides what to do; this process exits with the status of the child.
    for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));
    child.on("error", reject);
    child.on("close", (code, signal) => resolve(code ?? 128 + (constants.signals[signal] ?? 0)));
  });
}
