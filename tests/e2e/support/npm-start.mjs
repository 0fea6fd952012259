// Runs `npm start` with a separate storage and free ports.
import { spawn } from "node:child_process";
import { root } from "../../../scripts/lib/paths.mjs";
import { environment } from "../../../scripts/lib/run.mjs";
import { freePort } from "./server.mjs";
import { wranglerEnvironment } from "./workspace.mjs";

const START_MS = 600_000;
/** Matches the key at the end of the output of `npm start`. */
const KEY_AT_THE_END = /\n {2}(sk_test_\w+)\n\n$/;

/** Options with free ports for a start. */
export async function portOptions(state = {}) {
  // The demo platform must keep its port when it is started again, as it does by default.
  state.demoPort ??= await freePort();
  return { "--port": await freePort(), "--inspector-port": await freePort(), "--demo-port": state.demoPort };
}

/**
 * Runs a command that starts the service, waits until it is ready, calls `use` with its output and demo key, and stops it.
 * @template T
 * @param {string} program
 * @param {string[]} args
 * @param {{ cwd: string, env: object, isAlone?: boolean }} options with `isAlone`, only the command itself gets the signal, which
 *   must end the rest
 * @param {(started: { output: string, key: string }) => Promise<T>} use
 * @returns {Promise<T>}
 */
export async function whileServing(program, args, { isAlone, ...options }, use) {
  const started = spawn(program, args, { ...options, stdio: ["ignore", "pipe", "pipe"], detached: true });
  const ended = new Promise((done) => started.once("close", done));
  const end = () => started.exitCode === null && process.kill(isAlone ? started.pid : -started.pid, "SIGTERM");
  process.on("exit", end);
  let output = "";
  try {
    await new Promise((done, fail) => {
      const timer = setTimeout(() => fail(new Error(`the service did not become ready:\n${output}`)), START_MS);
      const take = (text) => {
        output += text;
        if (KEY_AT_THE_END.test(output)) done(clearTimeout(timer));
      };
      started.stdout.setEncoding("utf8").on("data", take);
      started.stderr.setEncoding("utf8").on("data", take);
      ended.then(() => fail(new Error(`${program} exited:\n${output}`)));
    });
    return await use({ output, key: KEY_AT_THE_END.exec(output)[1] });
  } finally {
    end();
    process.off("exit", end);
    await ended;
  }
}

/**
 * Runs `npm start`, and stops it after `use`.
 * @template T
 * @param {import("./workspace.mjs").State} state
 * @param {(started: { output: string, key: string, port: number }) => Promise<T>} use
 * @param {string[]} [options] additional options
 * @returns {Promise<T>}
 */
export async function whileStarted(state, use, options = []) {
  const ports = await portOptions(state);
  // Tests run without network, and with the catalog that the documentation describes.
  const args = [
    "start",
    "--",
    ...Object.entries(ports).flat().map(String),
    "--no-sources",
    "--persist-to",
    state.path,
    ...options,
  ];
  const place = { cwd: root, env: environment(wranglerEnvironment) };
  return whileServing("npm", args, place, (started) => use({ ...started, port: ports["--port"] }));
}
