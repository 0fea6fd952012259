// Runs Workers directly on workerd, without wrangler or Miniflare, and reads the CPU time of the process.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { nodeBin } from "../../scripts/lib/paths.mjs";
import { Problem } from "../../scripts/lib/problem.mjs";

// A process is idle when it uses less than this many microseconds within this many milliseconds.
const IDLE_MS = 8;
const IDLE_US = 50;

const text = JSON.stringify;

/** Writes parts of a configuration in Cap'n Proto's text format. */
const form = {
  module: ({ name, kind, file }) => `(name = ${text(name)}, ${kind} = embed ${text(file)})`,
  binding: ([name, value]) => `(name = ${text(name)}, ${value})`,
  service: ({ name, disk, network, external, modules, bindings = {}, compatibilityDate }) =>
    network
      ? `(name = ${text(name)}, network = (allow = [${network.map(text).join(", ")}]))`
      : disk
        ? `(name = ${text(name)}, disk = (path = ${text(disk)}))`
        : external
          ? `(name = ${text(name)}, external = (address = ${text(external)}, http = ()))`
          : `(name = ${text(name)}, worker = (compatibilityDate = ${text(compatibilityDate)},
          modules = [${modules.map(form.module).join(", ")}],
          bindings = [${Object.entries(bindings).map(form.binding).join(", ")}]))`,
  socket: (name) => `(name = ${text(name)}, address = "127.0.0.1:0", http = (), service = ${text(name)})`,
};

/** A workerd process with a socket for each of `exposed`. Paths of files are relative to `folder`. */
export class Runtime {
  #child;
  #ended;
  /** The port of each socket, by service. */
  ports = {};

  static async start(folder, name, services, exposed, v8Flags = []) {
    const config = join(folder, `${name}.capnp`);
    writeFileSync(
      config,
      `using Workerd = import "/workerd/workerd.capnp";
      const config :Workerd.Config = (
        services = [${services.map(form.service).join(",\n")}],
        v8Flags = [${v8Flags.map(text).join(", ")}],
        sockets = [${exposed.map(form.socket).join(",\n")}]);\n`,
    );
    const runtime = new Runtime();
    const child = spawn(join(nodeBin, "workerd"), ["serve", "--experimental", "--control-fd=3", config], {
      cwd: folder,
      stdio: ["ignore", "inherit", "inherit", "pipe"],
    });
    runtime.#child = child;
    runtime.#ended = once(child, "exit");
    const listening = (async () => {
      for await (const line of createInterface({ input: child.stdio[3] })) {
        const event = JSON.parse(line);
        if (event.event === "listen") runtime.ports[event.socket] = event.port;
        if (exposed.every((socket) => runtime.ports[socket])) return;
      }
      throw new Problem("workerd exited before it listened.");
    })();
    await Promise.race([listening, runtime.#ended.then(() => Promise.reject(new Problem("workerd exited.")))]);
    return runtime;
  }

  /** The CPU time of all threads so far, in microseconds. */
  cpu() {
    const tasks = `/proc/${this.#child.pid}/task`;
    const nanoseconds = readdirSync(tasks).map((task) =>
      Number(readFileSync(`${tasks}/${task}/schedstat`, "utf8").split(" ")[0]),
    );
    return nanoseconds.reduce((sum, time) => sum + time, 0) / 1000;
  }

  /** The CPU time once all threads are idle, because work after a response belongs to its request. */
  async settledCpu() {
    for (let before = this.cpu(); ; ) {
      await sleep(IDLE_MS);
      const now = this.cpu();
      if (now - before < IDLE_US) return now;
      before = now;
    }
  }

  async stop() {
    this.#child.kill("SIGKILL");
    await this.#ended;
  }
}
