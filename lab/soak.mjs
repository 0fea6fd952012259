// `npm run lab -- soak [--minutes 20]`: a soak test with `npm start`, and an OAuth server whose tokens expire after a
// minute. A connection alternates between use and idleness for this many minutes, survives an outage, loses its grant, and
// is reconnected in the console. The last steps take up to ten minutes more. Fails at the first deviation.
import { spawn } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { root } from "../scripts/lib/paths.mjs";
import { main, Problem } from "../scripts/lib/problem.mjs";
import { environment } from "../scripts/lib/run.mjs";
import { elapsed, print } from "../scripts/lib/status.mjs";
import { setup } from "../scripts/setup.mjs";

/** Matches the key at the end of the output of `npm start`. */
const KEY_AT_THE_END = /\n {2}(sk_test_\w+)\n\n$/;
const START_MS = 15 * 60_000;
/** The timeout for a published catalog, which the service uses everywhere within 90 seconds. */
const PUBLISH_TIMEOUT_MS = 120_000;

function minutesToLive() {
  const { values } = parseArgs({ options: { minutes: { type: "string", default: "20" } } });
  const minutes = Number(values.minutes);
  if (!(minutes > 0)) throw new Problem("--minutes takes a number above 0.", { code: 2 });
  return minutes;
}

/** Starts `npm start`, waits until it is ready, calls `use` with the printed key, and stops it. */
async function whileStarted(args, use) {
  const child = spawn("npm", ["start", "--", ...args], {
    cwd: root,
    env: environment(),
    stdio: ["ignore", "pipe", "pipe"],
    // A separate process group, which can be killed as a whole.
    detached: true,
  });
  const ended = new Promise((done) => child.once("close", done));
  const end = () => child.exitCode === null && process.kill(-child.pid, "SIGTERM");
  process.on("exit", end);
  let output = "";
  try {
    const key = await new Promise((done, fail) => {
      const timer = setTimeout(() => fail(new Error("`npm start` did not become ready")), START_MS);
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding("utf8").on("data", (text) => {
          output += text;
          const [, shown] = KEY_AT_THE_END.exec(output) ?? [];
          if (shown) done(clearTimeout(timer) ?? shown);
        });
      }
      ended.then(() => fail(new Error("`npm start` has exited")));
    });
    await use(key);
  } catch (error) {
    throw new Problem(`${error.stack ?? error}`, { output });
  } finally {
    end();
    process.off("exit", end);
    await ended;
  }
}

await main(async () => {
  const minutes = minutesToLive();
  await setup({ withBrowser: true });
  // The test support. Imported here, because it creates a temporary folder and needs npm packages.
  const at = (name) => import(`../tests/e2e/support/${name}.mjs`);
  const [
    { ConnectionLifecycle },
    { launch },
    { Idp, idpPlatforms },
    { platformCatalog },
    { send },
    { freePort },
    { State, folder },
  ] = await Promise.all(
    ["connection-lifecycle", "browser", "oidc", "platforms", "http", "server", "workspace"].map(at),
  );
  const [port, inspectorPort] = [await freePort(), await freePort()];
  const state = new State("soak");
  const args = ["--ip", "127.0.0.1", "--port", port, "--inspector-port", inspectorPort, "--persist-to", state.path];
  const startedAt = Date.now();
  const log = (text) => print(`${elapsed(Date.now() - startedAt).padStart(12)}  ${text}`);
  const idp = await Idp.start();
  idp.open(`http://127.0.0.1:${port}/connect/callback`);
  const browser = await launch();
  try {
    await whileStarted(args.map(String), async (secret) => {
      log("npm start is ready");
      // Adds a document, because an import needs at least one.
      const { issuer } = idp;
      const document = { server: issuer, authorizationUrl: `${issuer}/auth`, tokenUrl: `${issuer}/token`, scopes: {} };
      const platforms = { documents: { documented: document }, providers: idpPlatforms(issuer) };
      await state.publish(await platformCatalog("soak", folder, platforms));
      const server = {
        port,
        send: (path, { secret: key, headers = [], ...request } = {}) =>
          send({ port, path, headers: [["x-service-secret", key], ...headers], ...request }),
      };
      const isServed = async () => (await server.send("/v1/available-connectors/idp-basic", { secret })).status === 200;
      for (const until = Date.now() + PUBLISH_TIMEOUT_MS; !(await isServed()); await pause(1000)) {
        if (Date.now() > until) throw new Error("the published catalog is not served");
      }
      await new ConnectionLifecycle({ server, key: { secret }, idp, browser, minutes, later: pause, log }).run();
    });
  } finally {
    await browser.close();
    await idp.stop();
  }
  return 0;
});
