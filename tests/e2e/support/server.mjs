// The service on the real runtime, with a storage folder: the Worker on Miniflare, or `wrangler dev`.
import { spawn } from "node:child_process";
import { randomBytes, randomInt } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { after } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { root, wrangler } from "../../../scripts/lib/paths.mjs";
import { environment } from "../../../scripts/lib/run.mjs";
import { secrets as kept, send } from "./http.mjs";
import { expectNoLeaks, expectNoTraps } from "./leaks.mjs";
import { folder, wranglerEnvironment } from "./workspace.mjs";

const DIRECT_SCRIPT = join(import.meta.dirname, "direct.mjs");
/** The module with the responses of platforms. */
export const PLATFORMS = join(import.meta.dirname, "platform-responses.mjs");
const READY_MS = 120_000;
const POLL_MS = 50;
const STOP_MS = 10_000;

/** The default token signing secret. */
export const SESSION_SECRET = "the end-to-end tests' own secret";
kept.add(SESSION_SECRET);
/** Keys that encrypt credentials, for tests that need them. */
export const VAULT_KEYS = `test-1:${randomBytes(32).toString("base64")}`;
kept.add(VAULT_KEYS);

const running = new Set();
process.on("exit", () => running.forEach((server) => server.kill("SIGKILL")));
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(1));

/** The output of every server of this run. */
export const outputs = [];

// Benchmarks and soak tests are not test files; for them, `after` would print an empty test report.
if (process.env.NODE_TEST_CONTEXT) {
  after(() => {
    const printed = [...outputs, ...[...running].map((server) => server.output)];
    expectNoTraps(printed);
    expectNoLeaks(printed);
  });
}

/** The lines in wrangler's log files, if it ran. */
export function wranglerLogs() {
  const logs = join(folder, "logs");
  if (!existsSync(logs)) return [];
  return readdirSync(logs, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"));
}

// Below the ports that Linux and macOS assign to outgoing connections. A port that the system assigns could be taken again by such
// a connection before the started program listens.
const PORTS = { first: 20_000, end: 32_768 };

const isFree = (port) =>
  new Promise((done) => {
    const probe = createServer().once("error", () => done(false));
    probe.listen(port, "127.0.0.1", () => probe.close(() => done(true)));
  });

/** Returns a free port, chosen at random, because several test processes choose at the same time. */
export async function freePort() {
  for (;;) {
    const port = randomInt(PORTS.first, PORTS.end);
    if (await isFree(port)) return port;
  }
}

/**
 * Writes the project's configuration with other variables, absolute paths and additional bindings, into a separate folder with
 * separate secrets, so that a developer's secrets next to wrangler.toml are not used.
 */
function configuration(name, variables, bindings, secrets) {
  let text = readFileSync(join(root, "wrangler.toml"), "utf8");
  const replace = (pattern, replacement) => {
    if (!pattern.test(text)) throw new Error(`wrangler.toml has nothing like ${pattern}`);
    text = text.replace(pattern, replacement);
  };
  replace(/^main = "(.*)"$/m, (_, path) => `main = ${JSON.stringify(join(root, path))}`);
  replace(/^directory = "(.*)"$/m, (_, path) => `directory = ${JSON.stringify(join(root, path))}`);
  // Removes the build command, because the Worker is already built.
  replace(/^\[build\]\n(?:.+\n)*/m, "");
  for (const variable of Object.keys(variables)) text = text.replace(new RegExp(`^${variable} = .*\n`, "m"), "");
  const lines = Object.entries(variables).map(([variable, value]) => `${variable} = ${JSON.stringify(value)}\n`);
  replace(/^\[vars\]\n/m, () => `[vars]\n${lines.join("")}`);
  const place = join(folder, "configurations", name);
  mkdirSync(place, { recursive: true });
  const path = join(place, "wrangler.toml");
  writeFileSync(path, `${text}\n${bindings}`);
  writeFileSync(
    join(place, ".dev.vars"),
    Object.entries(secrets)
      .map(([secret, value]) => `${secret}=${JSON.stringify(value)}\n`)
      .join(""),
  );
  return path;
}

// Matches an API key or a token.
const SECRET = /^s[kt]_(test|live)_[\w.-]{38,}$/;

export class Server {
  /** The output so far. */
  output = "";

  /**
   * Starts the service on a storage folder and waits until it responds.
   * @param {import("./workspace.mjs").State} state
   * @param {{ name: string, variables?: object, bindings?: string, secrets?: object, byWrangler?: boolean, platforms?: string,
   *   timers?: number, clock?: boolean }} [other] differences from wrangler.toml. `byWrangler`: run `wrangler dev` with its proxy; `platforms`: a
   *   module whose default export responds to the Worker's requests; `timers`: speed factor of the Worker's timers; `clock`: whether
   *   requests can advance its clock
   */
  static async start(
    state,
    {
      name,
      variables = {},
      bindings = "",
      secrets = { SESSION_SECRET },
      byWrangler = false,
      platforms = undefined,
      timers = 1,
      clock = false,
    } = {
      name: "plain",
    },
  ) {
    const config = configuration(name, variables, bindings, secrets);
    const options = ["--config", config, "--persist-to", state.path];
    if (byWrangler) return Server.dev(root, options);
    const platformOptions = platforms ? ["--platforms", platforms] : [];
    const timerOptions = timers === 1 ? [] : ["--timers", String(timers)];
    const clockOptions = clock ? ["--clock"] : [];
    return Server.#serve(root, process.execPath, [
      DIRECT_SCRIPT,
      ...options,
      ...platformOptions,
      ...timerOptions,
      ...clockOptions,
    ]);
  }

  /** Starts `wrangler dev` in the folder of any Worker, and waits until `/health` responds. */
  static dev(cwd, options = []) {
    return Server.#serve(cwd, wrangler, ["dev", ...options, "--show-interactive-dev-session=false"]);
  }

  static async #serve(cwd, program, options) {
    const server = new Server();
    [server.port, server.inspectorPort] = [await freePort(), await freePort()];
    const ports = ["--ip", "127.0.0.1", "--port", server.port, "--inspector-port", server.inspectorPort].map(String);
    server.child = spawn(program, [...options, ...ports], {
      cwd,
      env: environment(wranglerEnvironment),
      stdio: ["ignore", "pipe", "pipe"],
      // A separate process group, which can be killed as a whole.
      detached: true,
    });
    server.ended = new Promise((done) => server.child.once("close", done));
    running.add(server);
    for (const stream of [server.child.stdout, server.child.stderr]) {
      stream.setEncoding("utf8").on("data", (text) => {
        server.output += text;
      });
    }
    try {
      await server.#ready();
    } catch (error) {
      await server.stop();
      throw error;
    }
    return server;
  }

  async #ready() {
    const until = Date.now() + READY_MS;
    for (;;) {
      const response = await send({ port: this.port, path: "/health" }).catch(() => undefined);
      if (response?.status === 200) return;
      const hasEnded = this.child.exitCode !== null || Date.now() > until;
      if (hasEnded) throw new Error(`the service did not become ready:\n${this.output}`);
      await pause(POLL_MS);
    }
  }

  /** Whether the started process is still running. */
  get alive() {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  kill(signal) {
    try {
      process.kill(-this.child.pid, signal);
    } catch (error) {
      if (error.code !== "ESRCH") throw error;
    }
  }

  /** Stops the service and all its child processes. */
  async stop() {
    this.kill("SIGTERM");
    const timer = setTimeout(() => this.kill("SIGKILL"), STOP_MS);
    await this.ended;
    clearTimeout(timer);
    this.kill("SIGKILL");
    running.delete(this);
    outputs.push(this.output);
  }

  /** Sends a request; `secret` is the key for the header `x-service-secret`. */
  send(path, { method, secret, headers = [], body } = {}) {
    const key = secret === undefined ? [] : [["x-service-secret", secret]];
    if (SECRET.test(secret ?? "")) kept.add(secret);
    return send({ port: this.port, method, path, headers: [...key, ...headers], body });
  }

  /** Polls until a condition is true. Fails with the message `otherwise` after a timeout. */
  async until(holds, otherwise) {
    const end = Date.now() + STOP_MS;
    while (!(await holds())) {
      if (Date.now() > end) throw new Error(`${otherwise}:\n${this.output}`);
      await pause(POLL_MS);
    }
  }

  /** Waits until a line of the output contains all of `parts`, and returns it. */
  async logged(...parts) {
    const until = Date.now() + STOP_MS;
    for (;;) {
      const line = this.output.split("\n").find((text) => parts.every((part) => text.includes(part)));
      if (line !== undefined) return line;
      if (Date.now() > until) throw new Error(`no line with ${parts.join(" and ")} in:\n${this.output}`);
      await pause(POLL_MS);
    }
  }
}
