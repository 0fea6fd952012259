// Fires the cron trigger of a local service each minute, because `wrangler dev` does not.

const MINUTE_MS = 60_000;

/**
 * Runs the scheduled jobs of the service now and each minute, until this process exits.
 * @param {string} address of the service, without a trailing slash
 */
export function runClock(address) {
  const url = `${address}/cdn-cgi/local/scheduled?cron=${encodeURIComponent("* * * * *")}`;
  // Ignores errors, because the service logs them, and the jobs run again in a minute.
  const runJobs = () =>
    fetch(url).then(
      (response) => response.arrayBuffer(),
      () => {},
    );
  // The first run reports the vault keys of the service, which some commands wait for.
  runJobs();
  setInterval(runJobs, MINUTE_MS).unref();
}
