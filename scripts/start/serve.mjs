// Runs `wrangler dev` until it exits or is stopped, and reports when it is ready.
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { work, wrangler } from "../lib/paths.mjs";
import { environment, unwatch, watch } from "../lib/run.mjs";
import { isVariableSet } from "../lib/variables.mjs";
import { RequestLogFilter } from "./request-log.mjs";

/**
 * Defaults for apps on this machine: the connect window shows APP_NAME, and ALLOWED_ORIGINS has the ports of Next.js and Vite. An
 * option would override the value in a file, so a default is used only if no file sets the variable.
 */
const DEFAULTS = { APP_NAME: "Demo app", ALLOWED_ORIGINS: "http://localhost:3000,http://localhost:5173" };

/** Variables of a local service, which may call local addresses. Options of the user come later and override them. */
const variables = (args) => {
  const at = args.findIndex((arg) => arg === "--port" || arg.startsWith("--port="));
  const port = at < 0 ? "8787" : (args[at].split("=")[1] ?? args[at + 1]);
  const unsetDefaults = Object.entries(DEFAULTS).filter(
    ([name]) => !isVariableSet(name, work, ["wrangler.toml", ".dev.vars"]),
  );
  const ownVariables = [["LOCAL_TARGETS", "allow"], ["BASE_URL", `http://localhost:${port}`], ...unsetDefaults];
  return ownVariables.flatMap(([name, value]) => ["--var", `${name}:${value}`]);
};
const READY = /Ready on (https?:\/\/[^\s\u001b]+)/;

/**
 * @param {{ args: string[], log: boolean }} options for `wrangler dev`, and whether to log each request
 * @param {(address: string) => Promise<void>} whenReady called when the service is ready. If it fails, the service is
 *   stopped, and the error is thrown
 * @returns {Promise<number>} the exit code
 */
export function serve({ args, log }, whenReady) {
  return new Promise((resolve, reject) => {
    const child = spawn(wrangler, ["dev", ...variables(args), "--show-interactive-dev-session=false", ...args], {
      cwd: work,
      env: environment({
        // Prevents wrangler from downloading location data, which this service does not use.
        CLOUDFLARE_CF_FETCH_ENABLED: "false",
        // wrangler would serve SQL on the vault without a key at /cdn-cgi/explorer, and record each request with its query.
        X_LOCAL_EXPLORER: "false",
        X_LOCAL_OBSERVABILITY: "false",
        ...(process.stdout.isTTY && { FORCE_COLOR: "1" }),
      }),
      stdio: ["ignore", "pipe", "pipe"],
    });
    const [outputFilter, errorFilter] = [new RequestLogFilter(), new RequestLogFilter()];
    let recentOutput = "";
    let ready = false;
    let failure;
    child.stdout.setEncoding("utf8").on("data", (chunk) => {
      process.stdout.write(log ? chunk : outputFilter.take(chunk));
      if (ready) return;
      recentOutput = (recentOutput + chunk).slice(-4096);
      const address = recentOutput.match(READY)?.[1];
      if (!address) return;
      ready = true;
      whenReady(address.replace("0.0.0.0", "localhost").replace(/\/$/, "")).catch((error) => {
        failure = error;
        child.kill("SIGTERM");
      });
    });
    child.stderr.setEncoding("utf8").on("data", (chunk) => process.stderr.write(log ? chunk : errorFilter.take(chunk)));
    watch(child);
    let isStopping = false;
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => (isStopping = true));
    child.on("error", reject);
    child.on("close", (code, signal) => {
      process.stdout.write(outputFilter.end());
      process.stderr.write(errorFilter.end());
      // It is not a failure if the user has stopped the service.
      if (isStopping) return resolve(0);
      unwatch(child);
      if (failure) return reject(failure);
      resolve(code ?? 128 + (constants.signals[signal] ?? 0));
    });
  });
}
