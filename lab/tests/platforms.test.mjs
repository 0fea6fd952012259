// Runs the platform scenarios of tests/platforms against the built Worker on the real runtime. The Rust test program plays the
// users, the apps and the platforms. This test forwards the program's requests to the Worker, and the Worker's requests to the
// program. Some requests move the Worker's clock forward by hours.
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { json } from "node:stream/consumers";
import { after, describe, test } from "node:test";
import { root } from "../../scripts/lib/paths.mjs";
import { run } from "../../scripts/lib/run.mjs";
import { secrets } from "../../tests/e2e/support/http.mjs";
import { ALL_SCOPES, key, store } from "../../tests/e2e/support/keys.mjs";
import { SESSION_SECRET, Server, VAULT_KEYS } from "../../tests/e2e/support/server.mjs";
import { State, build, folder, importPlatforms } from "../../tests/e2e/support/workspace.mjs";

/** The number of accounts, one for each journey; must not be less than the number of journeys. */
const ACCOUNT_COUNT = 400;
const RESPONSES_MODULE = join(root, "lab", "platforms", "forward.mjs");
const JOURNEYS_COMMAND = ["test", "--features", "cli", "--test", "platforms", "--", "--ignored", "on_the_real_runtime"];

const listening = async (server) => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server.address().port;
};

/** Imports all platforms that this project describes. */
function catalog() {
  const sources = join(folder, "platforms-documents");
  mkdirSync(sources, { recursive: true });
  // Adds a document, because an import needs at least one.
  const document = { openapi: "3.0.0", info: { title: "Nobody", version: "1" }, paths: {} };
  writeFileSync(join(sources, "nobody.json"), JSON.stringify(document));
  return importPlatforms("platforms-catalog", sources, join(root, "providers.toml"));
}

describe("the simulated platforms on the real runtime", { timeout: 1_800_000 }, () => {
  const closed = [];
  after(async () => {
    for (const close of closed.reverse()) await close();
  });

  test("every journey of every platform succeeds", async () => {
    await build();
    const state = new State("platforms");
    await state.migrate();
    await state.publish(await catalog());
    const keys = Array.from({ length: ACCOUNT_COUNT }, (_, index) =>
      key({ account: `account-${index}`, scopes: ALL_SCOPES }),
    );
    await state.use(({ vault }) => store(vault, keys));
    // The client secret of the app at the simulated platforms.
    secrets.add("app-secret-1");

    let journeys;
    const pendingResponses = new Map();
    const requested = createHttpServer(async (request, response) => {
      const id = pendingResponses.size + 1;
      pendingResponses.set(id, response);
      journeys.say({ kind: "asked", id, ...(await json(request)) });
    });
    process.env.CONNECTOR_VAULT_PLATFORMS = String(await listening(requested));
    closed.push(() => requested.close());
    const server = await Server.start(state, {
      name: "platforms",
      secrets: { SESSION_SECRET, VAULT_KEYS },
      platforms: RESPONSES_MODULE,
      clock: true,
    });
    closed.push(() => server.stop());

    let result;
    const reply = async ({ id, wait, journeys: count, ...message }) => {
      if (count !== undefined) result = { count, ...message };
      else if (id !== undefined) pendingResponses.get(id).end(JSON.stringify(message));
      else {
        const headers = wait === undefined ? message.headers : [["x-test-wait", String(wait)]];
        const { method, path = "/health", body } = message;
        const { status, headers: answered, text } = await server.send(path, { method, headers, body });
        journeys.say({ kind: "answered", status, headers: answered, body: text });
      }
    };
    const control = createServer((socket) => {
      journeys = { say: (message) => socket.write(`${JSON.stringify(message)}\n`) };
      createInterface({ input: socket }).on("line", (line) =>
        reply(JSON.parse(line)).catch((error) => socket.destroy(error)),
      );
      const origin = `http://127.0.0.1:${server.port}`;
      journeys.say({ kind: "ready", origin, keys: keys.map(({ secret }) => secret) });
    });
    const port = await listening(control);
    closed.push(() => control.close());

    await run("cargo", JOURNEYS_COMMAND, { env: { CONNECTOR_VAULT_LABORATORY: String(port) } });
    assert.ok(result, "the journeys did not end");
    const { count, platforms, failed } = result;
    console.log(`${count - failed.length} of ${count} journeys of ${platforms} platforms succeeded`);
    assert.deepEqual(failed, []);
  });
});
