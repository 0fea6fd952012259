// The databases that the schedule looks at in a minute.

/** How many at once: each takes up to 50 subrequests, and a paid plan allows 1,000. */
const AT_ONCE = 10;
const MINUTE_MS = 60_000;

/** The numbers of the bound databases whose turn it is at `now`: all of them, or each in its minute when there are many. */
export function turn(env, now) {
  const names = Object.keys(env).filter((name) => /^VAULT(_[1-9]\d*)?$/.test(name));
  const all = names.map((name) => Number(name.slice("VAULT_".length))).sort((a, b) => a - b);
  const turns = Math.ceil(all.length / AT_ONCE);
  const minute = Math.floor(now / MINUTE_MS);
  return all.filter((_, at) => (minute + at) % turns === 0);
}

/** Does `run` for each database whose turn it is, all at once: what fails stops no other, and fails the whole in the end. */
export async function inTurn(env, now, run) {
  const runs = turn(env, now).map(async (number) => {
    try {
      await run(number);
    } catch (cause) {
      // Told at once: another database may take its time.
      console.error(`schedule: ${cause?.stack ?? cause}`);
      throw cause;
    }
  });
  const failed = (await Promise.allSettled(runs)).find(({ status }) => status === "rejected");
  if (failed) throw failed.reason;
}
