// Prevents a second start on a storage that is being served: both would write the address of their demo platform to its catalog.
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isAlive } from "../lib/process-alive.mjs";
import { Problem } from "../lib/problem.mjs";

const TIMEOUT_MS = 2000;

/** The file with the process that serves a storage. A process that was killed leaves it behind. */
const fileIn = (state) => join(state, "v3", "serving.json");

function read(state) {
  try {
    return JSON.parse(readFileSync(fileIn(state), "utf8"));
  } catch {
    return undefined;
  }
}

/** Fails if another process serves the storage. */
export async function ensureNotServed(state) {
  const { pid, address } = read(state) ?? {};
  if (pid === process.pid || !isAlive(pid)) return;
  // After a restart of the machine, another program can have this id.
  const response = await fetch(`${address}/health`, { signal: AbortSignal.timeout(TIMEOUT_MS) }).catch(() => undefined);
  if (!response?.ok) return;
  throw new Problem(`This storage is being served already, on ${address} (process ${pid}).`, {
    hint: "Use that service, or stop it first. To run another one next to it, choose a storage and a port: npm start -- --persist-to DIR --port N",
  });
}

/** Records that this process serves the storage at an address. */
export function recordServing(state, address) {
  writeFileSync(fileIn(state), JSON.stringify({ pid: process.pid, address }));
}

/** Removes the record of this process. */
export function removeServing(state) {
  if (read(state)?.pid === process.pid) rmSync(fileIn(state), { force: true });
}
