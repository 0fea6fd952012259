// `npm start` itself, on a storage and ports of its own.
import { spawn } from "node:child_process";
import { root } from "../../../scripts/lib/paths.mjs";
import { environment } from "../../../scripts/lib/run.mjs";
import { freePort } from "./server.mjs";
import { wranglerEnvironment } from "./workspace.mjs";

const START_MS = 600_000;
/** How its output ends. */
const KEY_AT_THE_END = /\n {2}(sk_test_\w+)\n\n$/;

/**
 * Runs `npm start` until `use` is done, and ends it. `use` gets `output`, the `key` that it ends with, and the `port`.
 * @template T
 * @param {import("./workspace.mjs").State} state
 * @param {(started: { output: string, key: string, port: number }) => Promise<T>} use
 * @param {string[]} [options] more of them
 * @returns {Promise<T>}
 */
export async function whileStarted(state, use, options = []) {
  const port = await freePort();
  // A port that it keeps when it is started again, as it does by itself.
  state.demoPort ??= await freePort();
  const ports = { "--port": port, "--inspector-port": await freePort(), "--demo-port": state.demoPort };
  // A test does without the network, and has the catalog that the documentation describes.
  const args = [
    "start",
    "--",
    ...Object.entries(ports).flat().map(String),
    "--no-sources",
    "--persist-to",
    state.path,
    ...options,
  ];
  const started = spawn("npm", args, {
    cwd: root,
    env: environment(wranglerEnvironment),
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const ended = new Promise((done) => started.once("close", done));
  const end = () => started.exitCode === null && process.kill(-started.pid, "SIGTERM");
  process.on("exit", end);
  let output = "";
  try {
    await new Promise((done, fail) => {
      const timer = setTimeout(() => fail(new Error(`npm start did not become ready:\n${output}`)), START_MS);
      const take = (text) => {
        output += text;
        if (KEY_AT_THE_END.test(output)) done(clearTimeout(timer));
      };
      started.stdout.setEncoding("utf8").on("data", take);
      started.stderr.setEncoding("utf8").on("data", take);
      ended.then(() => fail(new Error(`npm start ended:\n${output}`)));
    });
    return await use({ output, key: KEY_AT_THE_END.exec(output)[1], port });
  } finally {
    end();
    process.off("exit", end);
    await ended;
  }
}
