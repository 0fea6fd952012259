// The service is killed while it creates, changes and fills connections, again and again on one storage: what it answered
// is there, what it counts is true, and each change has its event, once.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { App, SCOPES, VAULT_KEY } from "./support/connecting.mjs";
import { key, store } from "./support/keys.mjs";
import { SESSION_SECRET, Server } from "./support/server.mjs";
import { expectTrueCounts } from "./support/vault.mjs";
import { State, build, folder, importPlatforms } from "./support/workspace.mjs";

const CALLERS = 8;
/** Answers before the service is killed, each time. */
const ANSWERS = [500, 600, 700];
/** Changes of a connection before a caller creates the next one. */
const CHANGES = 2;
const DOCUMENT = {
  openapi: "3.0.3",
  info: { title: "Things", version: "1", "x-providerName": "things" },
  servers: [{ url: "https://things.example" }],
  paths: { "/thing": { get: { summary: "Get a thing", responses: { 200: { description: "The thing" } } } } },
  components: { securitySchemes: { token: { type: "http", scheme: "bearer" } } },
  security: [{ token: [] }],
};

describe("a service that is killed", { timeout: 600_000 }, () => {
  const state = new State("killed");
  const made = key({ scopes: `${SCOPES} events:read`, account: "killed" });
  const app = new App(() => server, made);
  /** What was answered of each connection, and what was sent and not answered. */
  const model = [];
  let [server, opened, sent, answered] = [undefined, undefined, 0, 0];

  const start = async () => {
    await server?.stop();
    const secrets = { SESSION_SECRET, VAULT_KEYS: `tests:${VAULT_KEY}` };
    server = await Server.start(state, { name: "killed", secrets });
  };

  /** What came back; undefined when the service was killed before it answered. */
  async function ask(status, method, path, body) {
    sent += 1;
    const answer = await app.call(method, path, body).catch(() => undefined);
    if (!answer) return undefined;
    assert.equal(answer.status, status, `${method} ${path}: ${answer.text.slice(0, 300)}`);
    answered += 1;
    return answer;
  }

  /** Creates connections and changes each a few times, until the service is gone. */
  async function caller(name, enough) {
    for (let nth = 0; ; nth += 1) {
      const wish = { platform: "things", identity: `${name}-${nth}`, identityType: "user", tags: ["new"] };
      const created = await ask(201, "POST", "/v1/vault/connections", wish);
      if (!created) return;
      const { id } = created.json;
      const one = { id, versions: [1], tags: ["new"], token: undefined, open: {} };
      model.push(one);
      for (let change = 0; change < CHANGES; change += 1) {
        one.open.tags = [name, `${name} ${nth} ${change}`];
        const patched = await ask(200, "PATCH", `/v1/vault/connections/${id}`, { tags: one.open.tags });
        if (!patched) return;
        one.versions.push(Number(patched.json.version));
        one.tags = one.open.tags;
        one.open = { token: `a token of ${name}: ${nth}, ${change}` };
        const body = { type: "bearer", token: one.open.token };
        if (!(await ask(204, "PUT", `/v1/vault/connections/${id}/credentials`, body))) return;
        one.token = one.open.token;
        one.open = {};
        enough();
      }
    }
  }

  async function allEvents() {
    const all = [];
    for (let after = ""; ; ) {
      const path = `/v1/events?limit=100${after && `&after=${encodeURIComponent(after)}`}`;
      const { rows, next } = await app.expect(200, "GET", path);
      if (rows.length === 0) return all;
      all.push(...rows);
      after = next;
    }
  }

  before(async () => {
    await build();
    const [document, providers] = [join(folder, "things.json"), join(folder, "no-providers.toml")];
    writeFileSync(document, JSON.stringify(DOCUMENT));
    writeFileSync(providers, "");
    await state.migrate();
    await state.publish(await importPlatforms("killed-catalog", document, providers));
    opened = await state.open();
    await store(opened.vault, [made]);
  });

  after(async () => {
    await server?.stop();
    await opened?.close();
  });

  for (const [round, least] of ANSWERS.entries())
    test(`after ${least} answers`, async () => {
      await start();
      const until = answered + least;
      const enough = () => {
        if (answered >= until) server.kill("SIGKILL");
      };
      await Promise.all(Array.from({ length: CALLERS }, (_, nth) => caller(`${round}-${nth}`, enough)));
      await server.ended;
      assert.ok(answered >= until && answered < sent, `${answered} of ${sent} were answered`);
      await start();

      for (const one of model) {
        const { tags, version } = await app.expect(200, "GET", `/v1/vault/connections/${one.id}`);
        // What was sent last may have been done, although nobody was told.
        const wasDone = one.open.tags && tags.join() === one.open.tags.join();
        if (wasDone) Object.assign(one, { tags, versions: [...one.versions, Number(version)] });
        assert.deepEqual(tags, one.tags);
        assert.ok(Number(version) >= one.versions.at(-1));
        if (one.token === undefined && one.open.token === undefined) continue;
        const answer = await app.askCredentials(one.id);
        if (answer.status === 404 && one.token === undefined) continue;
        assert.equal(answer.status, 200, answer.text);
        if (answer.json.token === one.open.token) one.token = one.open.token;
        assert.equal(answer.json.token, one.token);
        one.open = {};
      }
      const { total } = await app.expect(200, "GET", "/v1/vault/connections?limit=1");
      const most = model.length + CALLERS * (round + 1);
      assert.ok(total >= model.length && total <= most, `${total} connections, ${model.length} answered`);
      await expectTrueCounts(opened.vault);

      const events = await allEvents();
      assert.equal(new Set(events.map(({ id }) => id)).size, events.length, "no event twice");
      const count = new Map();
      for (const { type, data } of events) {
        const change = `${type} ${data.connection.id} ${data.connection.version}`;
        count.set(change, (count.get(change) ?? 0) + 1);
      }
      for (const { id, versions } of model)
        for (const version of versions) {
          const change = `connection.${version === 1 ? "created" : "updated"} ${id} ${version}`;
          assert.equal(count.get(change), 1, change);
        }
    });
});
