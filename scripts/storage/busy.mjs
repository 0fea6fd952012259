// Retries for local SQLite files that several programs have open. The last program to close a file locks it for some
// milliseconds, as writers do. workerd does not wait for locks, and fails.
import { setTimeout as pause } from "node:timers/promises";

const ATTEMPTS = 100;
const PAUSE_MS = 100;

/** Retries `work` while it fails with an error that matches `busy`, which means that it had no effect. */
async function retry(work, busy) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt === ATTEMPTS || !busy.test(error.message)) throw error;
      await pause(PAUSE_MS);
    }
  }
}

/** Retries `work` while the file is locked. */
export const retryWhileBusy = (work) => retry(work, /SQLITE_BUSY/);

/** Waits until workerd can open a database. While the file is locked, workerd may only report an internal error. */
export const waitUntilOpen = (database) =>
  retry(() => database.prepare("SELECT 1").run(), /SQLITE_BUSY|^internal error/);
