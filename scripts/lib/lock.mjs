// Keeps two runs in one clone from doing the same work at once: `npm run keys` in a second terminal, while the
// first `npm start` installs, must wait for it and not delete node_modules under it.
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isAlive } from "./alive.mjs";
import { root } from "./paths.mjs";
import { say } from "./status.mjs";

const LOOK_EVERY_MS = 200;

/** Whoever holds the lock, or undefined when it is free. A holder writes all of its file before others see it. */
function holder(file) {
  try {
    return Number(readFileSync(file, "utf8"));
  } catch (error) {
    if (error.code === "ENOENT") return undefined;
    throw error;
  }
}

/** Takes the lock when it is free. */
function take(file) {
  const own = `${file}.${process.pid}`;
  writeFileSync(own, `${process.pid}\n`);
  try {
    linkSync(own, file);
    return true;
  } catch (error) {
    if (error.code === "EEXIST") return false;
    throw error;
  } finally {
    rmSync(own, { force: true });
  }
}

/** Removes the lock of a process that ended without doing so. */
function clear(file, dead) {
  const aside = `${file}.${process.pid}.stale`;
  try {
    renameSync(file, aside);
  } catch (error) {
    if (error.code === "ENOENT") return;
    throw error;
  }
  // Another run may have cleared and taken it since: that one gets it back.
  if (!Object.is(holder(aside), dead)) renameSync(aside, file);
  else rmSync(aside, { force: true });
}

/**
 * Runs `body` while no other run in this clone is at the same work. A lock cannot be taken twice by one process.
 * @template T
 * @param {string} name of the lock
 * @param {string} what it is for, in words for whoever waits
 * @param {() => Promise<T>} body
 * @param {string} [folder] where locks are
 * @returns {Promise<T>}
 */
export async function locked(name, what, body, folder = join(root, ".wrangler", "locks")) {
  const file = join(folder, name);
  mkdirSync(folder, { recursive: true });
  for (let told; !take(file); ) {
    const pid = holder(file);
    if (pid === undefined) continue;
    if (!isAlive(pid)) {
      clear(file, pid);
      continue;
    }
    if (told !== pid) say(`Waiting for process ${pid}: ${what}. (If that is no run in this folder, remove ${file}.)`);
    told = pid;
    await sleep(LOOK_EVERY_MS);
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
