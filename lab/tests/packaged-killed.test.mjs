// The npm package connector-vault-server on one machine, without Cloudflare: all of its processes are killed ten times while callers
// write. Each acknowledged write persists, and all counters are right.
import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { PackagedServer } from "../packaged.mjs";
import { openapiDirectory, root } from "../../scripts/lib/paths.mjs";
import { ALL_SCOPES, key, store } from "../../tests/e2e/support/keys.mjs";
import { installServer } from "../../tests/e2e/support/server-package.mjs";
import { CONNECTIONS, expectCorrectCounts, connectionPath as at } from "../../tests/e2e/support/vault.mjs";
import { State, build, importPlatforms } from "../../tests/e2e/support/workspace.mjs";

const KILLS = 10;
const CALLERS = 8;
/** The number of acknowledged writes before each kill. */
const WRITES_PER_KILL = 150;
const GITHUB = join(openapiDirectory, "api", "github.com", "api.github.com.json");
const POLL_MS = 5;
const SERVICE_KILLED = new Error("the service was killed");

describe("the packaged service, killed while it writes", { timeout: 1_800_000 }, () => {
  const state = new State("packaged-killed");
  const apiKey = key({ scopes: ALL_SCOPES, account: "packaged" });
  /** The acknowledged state of each connection: { id, tags, token, isDeleted }, and `open`, the unacknowledged change. */
  const model = [];
  let [installed, server, acknowledged, isKilled, unanswered] = [undefined, undefined, 0, false, 0];

  async function sendRequest(status, method, path, body) {
    let response;
    let text;
    try {
      response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
        method,
        headers: { "x-service-secret": apiKey.secret, ...(body && { "content-type": "application/json" }) },
        body: body && JSON.stringify(body),
      });
      text = await response.text();
    } catch (error) {
      if (isKilled) throw SERVICE_KILLED;
      throw error;
    }
    if (isKilled) throw SERVICE_KILLED;
    assert.equal(response.status, status, `${method} ${path}: ${text}`);
    if (method !== "GET") acknowledged += 1;
    return text ? JSON.parse(text) : undefined;
  }

  /** Sends a change, and records it once it is acknowledged. */
  async function change(record, open, send) {
    record.open = open;
    await send();
    Object.assign(record, open, { open: {} });
  }

  /** Creates connections, changes the tags and credentials of each, and deletes every third. */
  async function caller(round, number) {
    for (let index = 0; ; index += 1) {
      const name = `${round}-${number}-${index}`;
      unanswered += 1;
      const body = { platform: "github", identity: name, identityType: "user", tags: [] };
      const { id } = await sendRequest(201, "POST", CONNECTIONS, body);
      unanswered -= 1;
      const record = { id, tags: [], open: {} };
      model.push(record);
      await change(record, { tags: [name] }, () => sendRequest(200, "PATCH", at(id), { tags: [name] }));
      const credentials = { type: "oauth2", authMethod: "oauth2", accessToken: `token-${name}` };
      await change(record, { token: credentials.accessToken }, () =>
        sendRequest(204, "PUT", `${at(id)}/credentials`, credentials),
      );
      if (index % 3 === 0) await change(record, { isDeleted: true }, () => sendRequest(204, "DELETE", at(id)));
    }
  }

  /** Asserts that a connection is in the acknowledged state, or that the unacknowledged change took effect as a whole. */
  async function expectAcknowledged(record) {
    const get = (path) =>
      fetch(`http://127.0.0.1:${server.port}${path}`, { headers: { "x-service-secret": apiKey.secret } });
    const response = await get(at(record.id));
    if (record.isDeleted || (record.open.isDeleted && response.status === 404)) {
      assert.equal(response.status, 404, record.id);
      Object.assign(record, { isDeleted: true, open: {} });
      return;
    }
    assert.equal(response.status, 200, record.id);
    const { tags } = await response.json();
    assert.ok(
      [record.tags, record.open.tags].some((known) => known?.join() === tags.join()),
      `${record.id}: ${tags}`,
    );
    const credentials = await get(`${at(record.id)}/credentials`);
    const token = credentials.status === 404 ? undefined : (await credentials.json()).accessToken;
    assert.ok([record.token, record.open.token].includes(token), `${record.id}: ${credentials.status}`);
    Object.assign(record, { tags, token, open: {} });
  }

  before(async () => {
    await build();
    const catalog = await importPlatforms("packaged", GITHUB, join(root, "tests", "fixtures", "github.toml"));
    installed = await installServer(catalog.path);
    await state.migrate();
    const { vault, close } = await state.open();
    await store(vault, [apiKey]);
    await close();
    server = await PackagedServer.start(installed, state);
  });

  after(() => server?.stop());

  async function killWhileWriting(round) {
    const until = acknowledged + WRITES_PER_KILL + randomInt(WRITES_PER_KILL);
    let fault;
    const callers = Array.from({ length: CALLERS }, (_, number) =>
      caller(round, number).catch((error) => (fault ??= error === SERVICE_KILLED ? undefined : error)),
    );
    while (acknowledged < until && !fault) await pause(POLL_MS);
    isKilled = true;
    await server.stop("SIGKILL");
    await Promise.all(callers);
    if (fault) throw fault;
    server = await PackagedServer.start(installed, state);
    isKilled = false;
  }

  async function expectAllAcknowledged() {
    for (let index = 0; index < model.length; index += CALLERS)
      await Promise.all(model.slice(index, index + CALLERS).map(expectAcknowledged));
    const { total } = await sendRequest(200, "GET", `${CONNECTIONS}?limit=1`);
    const known = model.filter(({ isDeleted }) => !isDeleted).length;
    assert.ok(total >= known && total <= known + unanswered, `${total} connections, ${known} acknowledged`);
    const { vault, close } = await state.open();
    await expectCorrectCounts(vault);
    await close();
  }

  test(`${KILLS} kills lose no acknowledged write`, async (context) => {
    for (let round = 0; round < KILLS; round += 1) {
      await killWhileWriting(round);
      await expectAllAcknowledged();
      context.diagnostic(`${round + 1} kills, ${acknowledged} acknowledged writes, 0 lost`);
    }
  });
});
