// Selects the shards whose scheduled jobs run in a minute, and runs them.

/** Shards per minute: each takes up to 50 subrequests, and a paid plan allows 1,000. */
const SHARDS_PER_MINUTE = 10;
const MINUTE_MS = 60_000;

/** The numbers of the bound databases that are due at `now`: all of them, or a part in each minute if there are many. */
export function shardsDueAt(env, now) {
  const names = Object.keys(env).filter((name) => /^VAULT(_[1-9]\d*)?$/.test(name));
  const all = names.map((name) => Number(name.slice("VAULT_".length))).sort((a, b) => a - b);
  const groups = Math.ceil(all.length / SHARDS_PER_MINUTE);
  const minute = Math.floor(now / MINUTE_MS);
  return all.filter((_, index) => (minute + index) % groups === 0);
}

/** Runs `run` for each due shard, concurrently. A failure does not stop the others, and rejects after all have ended. */
export async function runShards(env, now, run) {
  const runs = shardsDueAt(env, now).map(async (number) => {
    try {
      await run(number);
    } catch (cause) {
      // Log now; other shards may still be running.
      console.error(`schedule: ${cause?.stack ?? cause}`);
      throw cause;
    }
  });
  const failed = (await Promise.allSettled(runs)).find(({ status }) => status === "rejected");
  if (failed) throw failed.reason;
}
