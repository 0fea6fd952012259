// Runs `wrangler dev` until it ends or is asked to, and tells when it is ready.
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { isAppNamed } from "../lib/app-name.mjs";
import { root, wrangler } from "../lib/paths.mjs";
import { environment } from "../lib/run.mjs";
import { WithoutRequests } from "./request-log.mjs";

/** Only here may the vault call this machine's own addresses. Options that are given come later, and may change it. */
const variables = (args) => {
  const at = args.findIndex((arg) => arg === "--port" || arg.startsWith("--port="));
  const port = at < 0 ? "8787" : (args[at].split("=")[1] ?? args[at + 1]);
  const own = ["--var", "LOCAL_TARGETS:allow", "--var", `BASE_URL:http://localhost:${port}`];
  // What users are asked to connect to must have a name; an option would win over that of a file.
  return isAppNamed(root, ["wrangler.toml", ".dev.vars"]) ? own : [...own, "--var", "APP_NAME:Demo app"];
};
const READY = /Ready on (https?:\/\/[^\s\u001b]+)/;

/**
 * @param {{ args: string[], log: boolean }} options for `wrangler dev`, and whether to show the line that it has for each request
 * @param {(address: string) => Promise<void>} whenReady what it throws ends the service, and is thrown here
 * @returns {Promise<number>} the exit code
 */
export function serve({ args, log }, whenReady) {
  return new Promise((resolve, reject) => {
    const child = spawn(wrangler, ["dev", ...variables(args), "--show-interactive-dev-session=false", ...args], {
      cwd: root,
      env: environment({
        // Where a visitor comes from is nothing that this service asks; looking it up takes a network.
        CLOUDFLARE_CF_FETCH_ENABLED: "false",
        ...(process.stdout.isTTY && { FORCE_COLOR: "1" }),
      }),
      stdio: ["ignore", "pipe", "pipe"],
    });
    const [quiet, quietErrors] = [new WithoutRequests(), new WithoutRequests()];
    let seen = "";
    let ready = false;
    let failure;
    child.stdout.setEncoding("utf8").on("data", (chunk) => {
      process.stdout.write(log ? chunk : quiet.take(chunk));
      if (ready) return;
      seen = (seen + chunk).slice(-4096);
      const address = seen.match(READY)?.[1];
      if (!address) return;
      ready = true;
      whenReady(address.replace("0.0.0.0", "localhost").replace(/\/$/, "")).catch((error) => {
        failure = error;
        child.kill("SIGTERM");
      });
    });
    child.stderr.setEncoding("utf8").on("data", (chunk) => process.stderr.write(log ? chunk : quietErrors.take(chunk)));
    let asked = false;
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
      process.on(signal, () => {
        asked = true;
        child.kill(signal === "SIGHUP" ? "SIGTERM" : signal);
      });
    }
    child.on("error", reject);
    child.on("close", (code, signal) => {
      process.stdout.write(quiet.end());
      process.stderr.write(quietErrors.end());
      if (failure && !asked) return reject(failure);
      // Being asked to stop, and stopping, is not a failure.
      resolve(code ?? (asked ? 0 : 128 + (constants.signals[signal] ?? 0)));
    });
  });
}
