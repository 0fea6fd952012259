// Local SQLite files that several programs have open. Who leaves a file last takes it for himself for some milliseconds, as
// who writes does; workerd does not wait for that, and fails.
import { setTimeout as pause } from "node:timers/promises";

const ATTEMPTS = 100;
const PAUSE_MS = 100;

/** Repeats `work` while it fails with a message that matches `taken`: then it has done nothing yet. */
async function again(work, taken) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt === ATTEMPTS || !taken.test(error.message)) throw error;
      await pause(PAUSE_MS);
    }
  }
}

/** Repeats `work` while it finds a file taken. */
export const whenNotBusy = (work) => again(work, /SQLITE_BUSY/);

/** Waits until workerd can open a database. While the file is taken, workerd may report just an internal error. */
export const untilOpen = (database) => again(() => database.prepare("SELECT 1").run(), /SQLITE_BUSY|^internal error/);
