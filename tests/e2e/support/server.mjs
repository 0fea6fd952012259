// The service on the real runtime, started on a storage folder and ended with all its children: the Worker on Miniflare, or
// all of `wrangler dev`.
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
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

const DIRECT = join(import.meta.dirname, "direct.mjs");
/** The module that answers for platforms. */
export const PLATFORMS = join(import.meta.dirname, "platform-answers.mjs");
const READY_MS = 120_000;
const POLL_MS = 50;
const STOP_MS = 10_000;

/** What signs tokens, unless a test says otherwise. */
export const SESSION_SECRET = "the end-to-end tests' own secret";
kept.add(SESSION_SECRET);
/** What seals credentials, where a test says so. */
export const VAULT_KEYS = `test-1:${randomBytes(32).toString("base64")}`;
kept.add(VAULT_KEYS);

const running = new Set();
process.on("exit", () => running.forEach((server) => server.kill("SIGKILL")));
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(1));

/** What every server of this run has printed. */
export const outputs = [];

// A benchmark or a story, which is no file of tests, would print an empty report of tests at its end.
if (process.env.NODE_TEST_CONTEXT) {
  after(() => {
    const printed = [...outputs, ...[...running].map((server) => server.output)];
    expectNoTraps(printed);
    expectNoLeaks(printed);
  });
}

/** The lines that wrangler wrote to its own log files, where it ran at all. */
export function wranglerLogs() {
  const logs = join(folder, "logs");
  if (!existsSync(logs)) return [];
  return readdirSync(logs, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"));
}

/** A free port. */
export async function freePort() {
  const probe = createServer();
  await new Promise((done, fail) => probe.once("error", fail).listen(0, "127.0.0.1", done));
  const { port } = probe.address();
  await new Promise((done) => probe.close(done));
  return port;
}

/**
 * The project's own configuration with other variables, with absolute paths, and with more bindings. It lies in a folder of
 * its own with its secrets: those that a developer has beside wrangler.toml are not for here.
 */
function configuration(name, variables, bindings, secrets) {
  let text = readFileSync(join(root, "wrangler.toml"), "utf8");
  const replace = (pattern, replacement) => {
    if (!pattern.test(text)) throw new Error(`wrangler.toml has nothing like ${pattern}`);
    text = text.replace(pattern, replacement);
  };
  replace(/^main = "(.*)"$/m, (_, path) => `main = ${JSON.stringify(join(root, path))}`);
  replace(/^directory = "(.*)"$/m, (_, path) => `directory = ${JSON.stringify(join(root, path))}`);
  // The Worker is built already.
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

// A key, or a token.
const SECRET = /^s[kt]_(test|live)_[\w.-]{38,}$/;

export class Server {
  /** Everything printed so far. */
  output = "";

  /**
   * Starts the service on a storage folder and waits until it answers.
   * @param {import("./workspace.mjs").State} state
   * @param {{ name: string, variables?: object, bindings?: string, secrets?: object, byWrangler?: boolean, platforms?: string,
   *   timers?: number, clock?: boolean }} [other] what differs from wrangler.toml; whether `wrangler dev` serves it, with its proxy; a module whose
   *   default export answers what the Worker sends to others; how many times as fast the Worker's timers run; and whether requests
   *   may move its clock
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
    const others = platforms ? ["--platforms", platforms] : [];
    const speed = timers === 1 ? [] : ["--timers", String(timers)];
    const moved = clock ? ["--clock"] : [];
    return Server.#serve(root, process.execPath, [DIRECT, ...options, ...others, ...speed, ...moved]);
  }

  /** Starts `wrangler dev` in the folder of any Worker, and waits until `/health` answers. */
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
      // A process group of its own, to be ended as a whole.
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
      const answer = await send({ port: this.port, path: "/health" }).catch(() => undefined);
      if (answer?.status === 200) return;
      const over = this.child.exitCode !== null || Date.now() > until;
      if (over) throw new Error(`the service did not become ready:\n${this.output}`);
      await pause(POLL_MS);
    }
  }

  /** Whether the process that was started still runs. */
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

  /** Ends the service and everything that it started. */
  async stop() {
    this.kill("SIGTERM");
    const timer = setTimeout(() => this.kill("SIGKILL"), STOP_MS);
    await this.ended;
    clearTimeout(timer);
    this.kill("SIGKILL");
    running.delete(this);
    outputs.push(this.output);
  }

  /** Sends a request; `secret` is the key to send, in the header that the specification names. */
  send(path, { method, secret, headers = [], body } = {}) {
    const key = secret === undefined ? [] : [["x-service-secret", secret]];
    if (SECRET.test(secret ?? "")) kept.add(secret);
    return send({ port: this.port, method, path, headers: [...key, ...headers], body });
  }

  /** Waits until something holds. */
  async until(holds, otherwise) {
    const end = Date.now() + STOP_MS;
    while (!(await holds())) {
      if (Date.now() > end) throw new Error(`${otherwise}:\n${this.output}`);
      await pause(POLL_MS);
    }
  }

  /** Waits until the output has a line that holds all of `parts`, and returns it. */
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
