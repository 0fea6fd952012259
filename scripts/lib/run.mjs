// Starts other programs, always with an argument list, never through a shell.
import { AsyncLocalStorage, AsyncResource } from "node:async_hooks";
import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { constants } from "node:os";
import { delimiter, join } from "node:path";
import { createInterface } from "node:readline";
import { Problem } from "./problem.mjs";
import { isPackage, root, toolPath, work } from "./paths.mjs";
import { isLogCaptured, log } from "./status.mjs";

// The number of lines to show from the beginning and the end of a failed program's output: the beginning often contains
// the error, the end its location.
const HEAD_LINES = 20;
const TAIL_LINES = 40;
const DRAIN_MS = 2000;
// Matches the output of programs when the disk is full. The hint about it replaces the caller's hint.
const NO_SPACE = /\bENOSPC\b|no space left on device/i;
const SPACE_HINT = "The disk is full. Free some space (`df -h` shows how much there is), then run this again.";

// The running child processes, which must end before this process. Ctrl-C in a terminal signals both.
const running = new Set();
let stopSignal;
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"];

/** A set to which `run` adds the ids of the processes that it starts. */
export const startedIds = new AsyncLocalStorage();

function stop(signal) {
  for (const child of running) child.kill("SIGTERM");
  // After a second signal, do not wait for the child processes.
  if (stopSignal) exit();
  stopSignal = signal;
}

const exit = () => process.exit(128 + constants.signals[stopSignal]);

/** Ends the child process before this one when a signal arrives. */
export function watch(child) {
  if (running.size === 0) for (const signal of SIGNALS) process.on(signal, stop);
  running.add(child);
}

/** Call this when the child process has ended. After a signal, this process exits with its last child process. */
export function unwatch(child) {
  if (!running.delete(child) || running.size > 0) return;
  if (stopSignal) exit();
  for (const signal of SIGNALS) process.off(signal, stop);
}

/** The environment of a child process: this project's tools first in PATH, wrangler's telemetry off, plus `more`. */
export function environment(more = {}) {
  // The folder from which the command-line program reads its schema, scripts and facts (src/importer/shipped_files.rs).
  const packageVariables = isPackage && { CONNECTOR_VAULT_PACKAGE: root };
  return { ...process.env, ...packageVariables, PATH: toolPath(), WRANGLER_SEND_METRICS: "false", ...more };
}

/** The full path of a program in PATH, or undefined. */
export function which(name) {
  return (process.env.PATH ?? "")
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find((path) => existsSync(path));
}

/** Runs a short program synchronously. Returns { ok, out, err } instead of throwing. */
export function tryRun(command, args, env = {}) {
  const result = spawnSync(command, args, { cwd: work, env: environment(env), encoding: "utf8" });
  return { ok: result.status === 0, out: `${result.stdout ?? ""}`.trim(), err: `${result.stderr ?? ""}`.trim() };
}

/**
 * Runs a program. Shows its output only if it fails, unless `show` is set.
 * @param {string} command
 * @param {string[]} args
 * @param {{ env?: object, cwd?: string, show?: boolean, timeout?: number, hint?: string,
 *           detail?: (text: string) => void }} [options] `detail` gets each line of output
 * @returns {Promise<string>} standard output (empty with `show`)
 */
export function run(command, args, { env, cwd = work, show, timeout, hint, detail } = {}) {
  return new Promise((resolve, reject) => {
    // Captured output is printed as a whole at the end.
    const logLine = show && isLogCaptured() && AsyncResource.bind((line) => log(line));
    const out = show && !logLine ? "inherit" : "pipe";
    const child = spawn(command, args, { cwd, env: environment(env), stdio: ["ignore", out, out], timeout });
    watch(child);
    if (child.pid) startedIds.getStore()?.add(child.pid);
    const name = [command.split("/").pop(), ...args.slice(0, 3)].join(" ");
    const lines = [];
    let stdout = "";
    const addLine = (line) => {
      if (logLine) logLine(line);
      if (line.trim() === "") return;
      detail?.(line);
      lines.push(line);
      if (lines.length > HEAD_LINES + TAIL_LINES) lines.splice(HEAD_LINES, 1);
    };
    child.stdout?.setEncoding("utf8").on("data", (chunk) => {
      stdout += chunk;
    });
    for (const stream of [child.stdout, child.stderr]) {
      if (stream) createInterface({ input: stream, crlfDelay: Infinity }).on("line", addLine);
    }
    child.on("error", (error) => {
      unwatch(child);
      const reason = error.code === "ENOENT" ? "was not found" : `could not be started: ${error.message}`;
      reject(new Problem(`\`${command}\` ${reason}.`, { hint }));
    });
    // A killed program may leave a process that keeps the output open, so stop reading after a while.
    child.on("exit", (_, signal) => {
      if (signal) setTimeout(() => child.stdio.forEach((stream) => stream?.destroy()), DRAIN_MS).unref();
    });
    child.on("close", (code, signal) => {
      unwatch(child);
      if (code === 0) return resolve(stdout);
      const outcome = signal
        ? timeout
          ? `took too long (${timeout / 1000} s)`
          : `was terminated by ${signal}`
        : `failed (exit code ${code})`;
      const output = lines.join("\n");
      const advice = NO_SPACE.test(output) ? SPACE_HINT : hint;
      reject(new Problem(`\`${name}\` ${outcome}.`, { hint: advice, output: logLine ? undefined : output }));
    });
  });
}
