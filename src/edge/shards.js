// Selects the shards whose scheduled jobs are due in a minute, and runs these jobs.

/** The maximum number of shards per minute. Each uses up to 50 subrequests, and a paid plan allows 1,000. */
const SHARDS_PER_MINUTE = 10;
const MINUTE_MS = 60_000;

/** The numbers of the shards that are due at `now`: all with a binding or, if there are many, a different part each minute. */
export function shardsDueAt(env, now) {
  const names = Object.keys(env).filter((name) => /^VAULT(_[1-9]\d*)?$/.test(name));
  const all = names.map((name) => Number(name.slice("VAULT_".length))).sort((a, b) => a - b);
  const groups = Math.ceil(all.length / SHARDS_PER_MINUTE);
  const minute = Math.floor(now / MINUTE_MS);
  return all.filter((_, index) => (minute + index) % groups === 0);
}

/** Runs `run` for each due shard, concurrently. If one fails, the others continue; the promise is rejected after all have ended. */
export async function runShards(env, now, run) {
  const runs = shardsDueAt(env, now).map(async (number) => {
    try {
      await run(number);
    } catch (cause) {
      // Log the error now, because other shards may still be running.
      console.error(`schedule: ${cause?.stack ?? cause}`);
      throw cause;
    }
  });
  const failed = (await Promise.allSettled(runs)).find(({ status }) => status === "rejected");
  if (failed) throw failed.reason;
}
