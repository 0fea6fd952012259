// Kills the service repeatedly on one storage while it creates and changes connections, connects accounts and refreshes tokens.
// Acknowledged writes persist, counters are right, and each change has exactly one event. An interrupted operation costs a user at
// most one more attempt, or a platform one more token refresh.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import {
  App,
  SCOPES,
  VARIABLES,
  VAULT_KEY,
  Visitor,
  atPort,
  openCallback,
  obtainCallback,
  write,
} from "../../tests/e2e/support/connecting.mjs";
import { Grant } from "../../tests/e2e/support/grants.mjs";
import { key, store } from "../../tests/e2e/support/keys.mjs";
import { platformCatalog } from "../../tests/e2e/support/platforms.mjs";
import { SESSION_SECRET, Server } from "../../tests/e2e/support/server.mjs";
import { Stub, reply, stubDocuments, stubPlatforms } from "../../tests/e2e/support/stub.mjs";
import { CONNECTIONS, expectTrueCounts, one as at } from "../../tests/e2e/support/vault.mjs";
import { State, build, folder } from "../../tests/e2e/support/workspace.mjs";

const CALLERS = 8;
/** When the service is killed: after this many responses, at the next operation of this kind. */
const ROUNDS = [
  [400, "the service responds"],
  [250, "a platform exchanges a code"],
  [250, "a lenient platform refreshes a token"],
  [250, "a strict platform refreshes a token"],
];
/** Changes of a connection by a caller. */
const CHANGES = 2;
/** The number of most recently connected accounts that a caller reads. */
const READ_COUNT = 3;
/** Lifetimes of access tokens in seconds. Every other pair of accounts gets the short one, which always needs a refresh. */
const [LONG, SHORT] = [3600, 1];
/** The timeouts of a code exchange and a token refresh. Older ones were interrupted. */
const [EXCHANGE_MS, LEASE_MS] = [60_000, 30_000];
/** The error a client sees when the service is killed. */
const SERVICE_KILLED = new Error("the service was killed");

describe("a service that is killed", { timeout: 600_000 }, () => {
  const state = new State("killed");
  const made = key({ scopes: `${SCOPES} events:read`, account: "killed" });
  const app = new App(() => server, made);
  /** The acknowledged state of each connection, and unacknowledged requests. */
  const model = [];
  /** The unfinished connect attempts of this round; those with a key until the response. */
  let [ways, keys] = [[], new Set()];
  let [server, stub, opened, sent, answered, until, moment, isKilled] = [undefined, undefined, undefined, 0, 0, 0];

  const start = async () => {
    await server?.stop();
    const variables = { ...VARIABLES, LOCAL_TARGETS: "allow" };
    const secrets = { SESSION_SECRET, VAULT_KEYS: `tests:${VAULT_KEY}` };
    server = await Server.start(state, { name: "killed", variables, secrets });
    isKilled = false;
  };

  /** Kills the service if this is the selected operation. */
  function reached(what) {
    if (isKilled || answered < until || what !== moment) return;
    isKilled = true;
    server.kill("SIGKILL");
  }

  /** The response of the service. Throws `SERVICE_KILLED` if it was killed before. */
  async function unlessKilled(asking) {
    sent += 1;
    const response = await asking().catch((error) => {
      throw isKilled ? SERVICE_KILLED : error;
    });
    answered += 1;
    reached("the service responds");
    return response;
  }

  async function ask(status, method, path, body) {
    const [response, json] = await unlessKilled(async () => {
      const whole = await app.call(method, path, body);
      return [whole, whole.body.length > 0 || status !== 204 ? whole.json : undefined];
    });
    assert.equal(response.status, status, `${method} ${path}: ${response.text.slice(0, 300)}`);
    return json;
  }

  /** Records a created connection. */
  function created({ id, version, tags }, more = {}) {
    const one = { id, tags, versions: [Number(version)], open: {}, ...more };
    model.push(one);
    return one;
  }

  /** Creates a connection, and changes it a few times. */
  async function change(name) {
    const input = { platform: "unchecked", identity: name, identityType: "user", tags: ["new"] };
    const one = created(await ask(201, "POST", CONNECTIONS, input));
    for (let index = 0; index < CHANGES; index += 1) {
      one.open.tags = [name, `${name} ${index}`];
      const patched = await ask(200, "PATCH", at(one.id), { tags: one.open.tags });
      one.versions.push(Number(patched.version));
      one.tags = one.open.tags;
      one.open = { secret: `a key of ${name}: ${index}` };
      const body = { type: "api_key", apiKey: one.open.secret };
      await ask(204, "PUT", `${at(one.id)}/credentials`, body);
      one.secret = one.open.secret;
      one.open = {};
    }
  }

  /** Connects an account by a key that the platform accepts. */
  async function enterKey(name) {
    const secret = stub.on(`the key of ${name}`, (it) => reply(it, {}));
    const input = {
      platform: "checked",
      identity: name,
      identityType: "user",
      tags: [name],
      fields: { apiKey: secret },
    };
    keys.add(input);
    created(await ask(201, "POST", "/v1/vault/connect", input), { secret, isConnected: true });
    keys.delete(input);
  }

  /** Whether a platform must not respond, because the service was killed. */
  function isCut({ isStrict }, what) {
    const renewal = isStrict ? "a strict platform refreshes a token" : "a lenient platform refreshes a token";
    reached(what === "code" ? "a platform exchanges a code" : renewal);
    return isKilled;
  }

  /** A user connects an account at the platform. */
  async function signIn(name, index, own, code = `the code of ${name}`) {
    const way = { name, visitor: new Visitor() };
    way.grant = new Grant(stub, code, {
      isStrict: index % 2 === 1,
      life: index % 4 < 2 ? LONG : SHORT,
      isCut,
    });
    ways.push(way);
    const input = { platform: "plain", identity: name, identityType: "user", tags: [name] };
    const begun = await ask(202, "POST", "/v1/vault/connect", input);
    Object.assign(way, { id: begun.id, link: begun.authorizationUrl });
    way.back = await unlessKilled(() => obtainCallback(way.visitor, way.link, way.grant.code));
    const { status, heading } = await unlessKilled(() => openCallback(way.visitor, way.back));
    assert.deepEqual([status, heading], [200, "plain is connected"]);
    way.isDone = true;
    own.push(connected(way, (await ask(200, "GET", `/v1/vault/connect/${way.id}`)).connection));
  }

  /** Records a connected account. */
  function connected(way, connection) {
    way.isKnown = true;
    return created(connection, { grant: way.grant, token: way.grant.given.at(-1), isConnected: true });
  }

  /** Reads tokens so that each is refreshed: expired ones automatically, others by `?refresh=true`. */
  async function refreshTokens(own) {
    for (const one of own.slice(-READ_COUNT)) {
      const query = one.grant.life === LONG ? "?refresh=true" : "";
      one.token = (await ask(200, "GET", `${at(one.id)}/credentials${query}`)).accessToken;
      assert.ok(one.grant.takes(one.token));
    }
  }

  /** Runs operations in turn until the service is killed. Each caller starts with another operation. */
  async function caller(round, number) {
    const own = [];
    for (let index = number; ; index += 1) {
      const name = `${round}-${number}-${index}`;
      const steps = [
        () => change(name),
        () => enterKey(name),
        () => signIn(name, index >> 2, own),
        () => refreshTokens(own),
      ];
      await steps[index % steps.length]();
    }
  }

  /** Asserts that a connection and its credentials are as acknowledged. */
  async function expectKept(one) {
    const { tags, version } = await app.expect(200, "GET", at(one.id));
    // The last request may have taken effect although its response was lost.
    const wasDone = one.open.tags && tags.join() === one.open.tags.join();
    if (wasDone) Object.assign(one, { tags, versions: [...one.versions, Number(version)] });
    assert.deepEqual(tags, one.tags);
    assert.ok(Number(version) >= one.versions.at(-1));
    if (one.grant === undefined) await expectSecret(one);
    else if (!one.isOver) await expectAlive(one);
    one.open = {};
  }

  /** Asserts that the key of a connection is the acknowledged one. */
  async function expectSecret(one) {
    const response = await app.askCredentials(one.id);
    if (response.status === 404 && one.secret === undefined) return;
    assert.equal(response.status, 200, response.text);
    if (response.json.apiKey === one.open.secret) one.secret = one.open.secret;
    assert.equal(response.json.apiKey, one.secret);
  }

  /** Asserts that the platform accepts the token of a connection, and that it can still be refreshed, unless a rotation was lost. */
  async function expectAlive(one) {
    const { grant } = one;
    const wasLost = grant.isLost;
    for (const query of ["", "?refresh=true"]) {
      const before = grant.given.length;
      const response = await app.askCredentials(one.id, query);
      if (response.status !== 200) {
        // The platform issued tokens that never reached the service, and does not issue them again.
        assert.ok(grant.isStrict && one.token !== grant.given.at(-1), `${grant.code}: ${response.text}`);
        assert.deepEqual([response.status, response.json.code], [503, "unavailable"]);
        const { state, reason } = await app.status(one.id);
        assert.deepEqual([state, reason.code], ["degraded", "grant_rejected"]);
        one.isOver = true;
        break;
      }
      const { accessToken } = response.json;
      assert.ok(grant.takes(accessToken), grant.code);
      assert.ok([one.token, grant.given.at(-1)].includes(accessToken), `${grant.code} has an older token`);
      assert.ok(grant.given.length <= before + 1, "at most one more refresh");
      one.token = accessToken;
    }
    if (wasLost) assert.equal(one.isOver ?? false, grant.isStrict, grant.code);
  }

  /** Continues an interrupted attempt as a user would: by reloading the page, or else by starting again. */
  async function resume(way) {
    const { grant, visitor } = way;
    if (way.back) await openCallback(visitor, atPort(server.port, visitor, way.back));
    assert.ok(stub.requestCount(grant.code) <= 1, "a code is used once");
    const attempt = way.id && (await app.attempt(way.id));
    if (attempt?.status === "succeeded") {
      if (!way.isKnown) connected(way, attempt.connection);
      const link = await visitor.get(atPort(server.port, visitor, way.link));
      assert.deepEqual([link.status, link.header("location")], [410, undefined], "a link is used once");
      return;
    }
    assert.ok(!way.isDone, `${way.name} was connected`);
    if (stub.requestCount(grant.code) > 0) {
      const sql = "UPDATE connect_attempts SET claimed_at = claimed_at - ? WHERE id = ?";
      await write(opened.vault, sql, EXCHANGE_MS, way.id);
      await app.failed(way.id, "interrupted");
    }
    await signIn(way.name, 0, [], `the second code of ${way.name}`);
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
    stub = await Stub.start();
    await state.migrate();
    const [documents, providers] = [stubDocuments(stub.origin), stubPlatforms(stub.origin)];
    await state.publish(await platformCatalog("killed-catalog", folder, { documents, providers }));
    opened = await state.open();
    await store(opened.vault, [made]);
    await start();
    await app.setClient("plain", { clientId: "app", clientSecret: "the secret of the killed app", scopes: ["read"] });
  });

  after(async () => {
    await Promise.all([server?.stop(), stub?.stop()]);
    await opened?.close();
  });

  for (const [round, [least, when]] of ROUNDS.entries())
    test(`after ${least} responses, when ${when}`, async () => {
      [until, moment, ways, keys] = [answered + least, when, [], new Set()];
      const callers = Array.from({ length: CALLERS }, (_, number) => caller(round, number));
      for (const error of await Promise.all(callers.map((one) => one.catch((thrown) => thrown))))
        if (error !== SERVICE_KILLED) throw error;
      await server.ended;
      assert.ok(answered >= until && answered < sent, `${answered} of ${sent} got a response`);
      await start();
      moment = undefined;

      // Expires the leases of the killed process.
      await write(opened.vault, "UPDATE credentials SET lease_until = lease_until - ?", LEASE_MS);
      await Promise.all(ways.map(resume));
      for (const input of keys) {
        const again = await app.connect(input);
        if (again.status !== 409) assert.equal(again.status, 201, again.text);
        const id = again.json.id ?? again.json.connectionId;
        created(await app.expect(200, "GET", at(id)), { secret: input.fields.apiKey, isConnected: true });
      }
      for (let index = 0; index < model.length; index += CALLERS)
        await Promise.all(model.slice(index, index + CALLERS).map(expectKept));
      const stored = model.map((one) => one.token ?? one.secret).filter(Boolean);
      assert.equal(new Set(stored).size, stored.length, "no two connections share credentials");
      const { total } = await app.expect(200, "GET", `${CONNECTIONS}?limit=1`);
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
      for (const { id, versions, isConnected } of model)
        for (const version of versions) {
          const change = `connection.${version === 1 ? "created" : "updated"} ${id} ${version}`;
          assert.equal(count.get(change), 1, change);
          if (isConnected) assert.equal(count.get(`connection.connected ${id} ${version}`), 1, `${id} was connected`);
        }
      assert.equal(events.filter(({ type }) => type === "connection.created").length, total);
    });
});
