// Prevents two processes in one clone from doing the same work concurrently. For example, `npm run keys` must wait while the first
// `npm start` installs packages, instead of deleting node_modules.
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isAlive } from "./process-alive.mjs";
import { work } from "./paths.mjs";
import { log } from "./status.mjs";

const POLL_INTERVAL_MS = 200;

/** Reads the id of the process that holds the lock; undefined if it is free. The file is always complete, because it is linked. */
function holder(file) {
  try {
    return Number(readFileSync(file, "utf8"));
  } catch (error) {
    if (error.code === "ENOENT") return undefined;
    throw error;
  }
}

/** Takes the lock if it is free. Returns whether it did. */
function tryTake(file) {
  const ownFile = `${file}.${process.pid}`;
  writeFileSync(ownFile, `${process.pid}\n`);
  try {
    linkSync(ownFile, file);
    return true;
  } catch (error) {
    if (error.code === "EEXIST") return false;
    throw error;
  } finally {
    rmSync(ownFile, { force: true });
  }
}

/** Removes the lock of a process that exited without releasing it. */
function removeStaleLock(file, deadPid) {
  const movedFile = `${file}.${process.pid}.stale`;
  try {
    renameSync(file, movedFile);
  } catch (error) {
    if (error.code === "ENOENT") return;
    throw error;
  }
  // If another process has replaced the stale lock in the meantime, restore that lock.
  if (!Object.is(holder(movedFile), deadPid)) renameSync(movedFile, file);
  else rmSync(movedFile, { force: true });
}

/**
 * Runs `body` while holding a lock of this clone. Not reentrant.
 * @template T
 * @param {string} name of the lock
 * @param {string} what the holder is doing, as a clause for the message to waiting processes
 * @param {() => Promise<T>} body
 * @param {string} [folder] the folder of the lock files
 * @returns {Promise<T>}
 */
export async function withLock(name, what, body, folder = join(work, ".wrangler", "locks")) {
  const file = join(folder, name);
  mkdirSync(folder, { recursive: true });
  for (let reported; !tryTake(file); ) {
    const pid = holder(file);
    if (pid === undefined) continue;
    if (!isAlive(pid)) {
      removeStaleLock(file, pid);
      continue;
    }
    if (reported !== pid)
      log(`Waiting for process ${pid}: ${what}. (If that process does not run in this folder, remove ${file}.)`);
    reported = pid;
    await sleep(POLL_INTERVAL_MS);
  }
  const release = () => rmSync(file, { force: true });
  process.once("exit", release);
  try {
    return await body();
  } finally {
    process.off("exit", release);
    release();
  }
}
