// Runs programs that serve a URL.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";

const READY_MS = 120_000;
const POLL_MS = 50;

/**
 * Starts a program, waits until it responds at a URL, calls `use` with a function that returns its output, and stops it.
 * @template T
 * @param {string} program
 * @param {string[]} args
 * @param {import("node:child_process").SpawnOptions} options
 * @param {string} url
 * @param {(output: () => string) => Promise<T>} use
 * @returns {Promise<T>}
 */
export async function whileResponding(program, args, options, url, use) {
  const child = spawn(program, args, { ...options, stdio: ["ignore", "pipe", "pipe"], detached: true });
  const ended = new Promise((done) => child.once("close", done));
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (output += text));
  const isRunning = () => child.exitCode === null && child.signalCode === null;
  try {
    const until = Date.now() + READY_MS;
    while (!(await fetch(url, { redirect: "manual" }).catch(() => undefined))) {
      assert.ok(isRunning() && Date.now() < until, output);
      await pause(POLL_MS);
    }
    return await use(() => output);
  } finally {
    if (isRunning()) process.kill(-child.pid, "SIGTERM");
    await ended;
  }
}
