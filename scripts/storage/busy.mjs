// Local SQLite files that several programs have open. Who leaves a file last takes it for himself for some milliseconds, as
// who writes does; workerd does not wait for that, and fails.
import { setTimeout as pause } from "node:timers/promises";

const ATTEMPTS = 100;
const PAUSE_MS = 100;

/** Does `work` again as long as it finds a file taken: then it has done nothing yet. */
export async function whenNotBusy(work) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt === ATTEMPTS || !error.message.includes("SQLITE_BUSY")) throw error;
      await pause(PAUSE_MS);
    }
  }
}
