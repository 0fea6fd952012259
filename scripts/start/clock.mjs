// The minutes of a service on this machine: `wrangler dev` has cron triggers, but never fires them by itself.

const MINUTE_MS = 60_000;

/**
 * Has the service look now and each minute for what is due, until the program ends.
 * @param {string} address of the service, without a trailing slash
 */
export function runClock(address) {
  const url = `${address}/cdn-cgi/local/scheduled?cron=${encodeURIComponent("* * * * *")}`;
  // What goes wrong is in the service's own log, and due again in a minute.
  const tick = () =>
    fetch(url).then(
      (response) => response.arrayBuffer(),
      () => {},
    );
  // The first run reports which keys the service has; no command has to wait a minute for it.
  tick();
  setInterval(tick, MINUTE_MS).unref();
}
