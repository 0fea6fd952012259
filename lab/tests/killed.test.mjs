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
  callbackAtPort,
  openCallback,
  obtainCallback,
} from "../../tests/e2e/support/connecting.mjs";
import { Grant } from "../../tests/e2e/support/grants.mjs";
import { key, store } from "../../tests/e2e/support/keys.mjs";
import { platformCatalog } from "../../tests/e2e/support/platforms.mjs";
import { SESSION_SECRET, Server } from "../../tests/e2e/support/server.mjs";
import { Stub, reply, stubDocuments, stubPlatforms } from "../../tests/e2e/support/stub.mjs";
import { CONNECTIONS, expectCorrectCounts, connectionPath as at } from "../../tests/e2e/support/vault.mjs";
import { State, build, folder } from "../../tests/e2e/support/workspace.mjs";

const CALLERS = 8;
/** When each round kills the service: after this many responses, at the next operation of this kind. */
const ROUNDS = [
  [400, "the service responds"],
  [250, "a platform exchanges a code"],
  [250, "a lenient platform refreshes a token"],
  [250, "a strict platform refreshes a token"],
];
/** The number of times that a caller changes each connection that it creates. */
const CHANGES_PER_CONNECTION = 2;
/** The number of most recently connected accounts that a caller reads. */
const READ_COUNT = 3;
/** Lifetimes of access tokens in seconds. Every other pair of accounts gets the short one, which always needs a refresh. */
const [LONG_LIFETIME_S, SHORT_LIFETIME_S] = [3600, 1];
/** The timeouts of a code exchange and a token refresh. The service treats older ones as interrupted. */
const [EXCHANGE_MS, LEASE_MS] = [60_000, 30_000];
/** The error a client sees when the service is killed. */
const SERVICE_KILLED = new Error("the service was killed");

describe("a service that is killed", { timeout: 600_000 }, () => {
  const state = new State("killed");
  const apiKey = key({ scopes: `${SCOPES} events:read`, account: "killed" });
  const app = new App(() => server, apiKey);
  /** A record for each connection: its acknowledged state, and in `open` the request that was not acknowledged. */
  const model = [];
  /** The unfinished connect attempts of this round, and the pending requests that store a key. */
  let [attempts, keys] = [[], new Set()];
  let [server, stub, opened, sent, answered, until, killPoint, isKilled] = [undefined, undefined, undefined, 0, 0, 0];

  const start = async () => {
    await server?.stop();
    const variables = { ...VARIABLES, LOCAL_TARGETS: "allow" };
    const secrets = { SESSION_SECRET, VAULT_KEYS: `tests:${VAULT_KEY}` };
    server = await Server.start(state, { name: "killed", variables, secrets });
    isKilled = false;
  };

  /** Kills the service if this is the selected operation. */
  function killIfSelected(what) {
    if (isKilled || answered < until || what !== killPoint) return;
    isKilled = true;
    server.kill("SIGKILL");
  }

  /** Waits for a response of the service. Throws `SERVICE_KILLED` if the service was killed before. */
  async function unlessKilled(asking) {
    sent += 1;
    const response = await asking().catch((error) => {
      throw isKilled ? SERVICE_KILLED : error;
    });
    answered += 1;
    killIfSelected("the service responds");
    return response;
  }

  async function sendRequest(status, method, path, body) {
    const [response, json] = await unlessKilled(async () => {
      const response = await app.call(method, path, body);
      return [response, response.body.length > 0 || status !== 204 ? response.json : undefined];
    });
    assert.equal(response.status, status, `${method} ${path}: ${response.text.slice(0, 300)}`);
    return json;
  }

  function recordCreated({ id, version, tags }, more = {}) {
    const record = { id, tags, versions: [Number(version)], open: {}, ...more };
    model.push(record);
    return record;
  }

  /** Creates a connection, and changes it a few times. */
  async function change(name) {
    const input = { platform: "unchecked", identity: name, identityType: "user", tags: ["new"] };
    const record = recordCreated(await sendRequest(201, "POST", CONNECTIONS, input));
    for (let index = 0; index < CHANGES_PER_CONNECTION; index += 1) {
      record.open.tags = [name, `${name} ${index}`];
      const updated = await sendRequest(200, "PATCH", at(record.id), { tags: record.open.tags });
      record.versions.push(Number(updated.version));
      record.tags = record.open.tags;
      record.open = { secret: `a key of ${name}: ${index}` };
      const body = { type: "api_key", apiKey: record.open.secret };
      await sendRequest(204, "PUT", `${at(record.id)}/credentials`, body);
      record.secret = record.open.secret;
      record.open = {};
    }
  }

  /** Connects an account with a key that the platform accepts. */
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
    recordCreated(await sendRequest(201, "POST", "/v1/vault/connect", input), { secret, isConnected: true });
    keys.delete(input);
  }

  /** Kills the service if this is the selected operation. Returns whether the service was killed: then the platform must not respond. */
  function isWithheld({ isStrict }, what) {
    const refreshStep = isStrict ? "a strict platform refreshes a token" : "a lenient platform refreshes a token";
    killIfSelected(what === "code" ? "a platform exchanges a code" : refreshStep);
    return isKilled;
  }

  /** Connects an account at the platform, as a user would. */
  async function signIn(name, index, own, code = `the code of ${name}`) {
    const attempt = { name, visitor: new Visitor() };
    attempt.grant = new Grant(stub, code, {
      isStrict: index % 2 === 1,
      lifetime: index % 4 < 2 ? LONG_LIFETIME_S : SHORT_LIFETIME_S,
      isWithheld,
    });
    attempts.push(attempt);
    const input = { platform: "plain", identity: name, identityType: "user", tags: [name] };
    const response = await sendRequest(202, "POST", "/v1/vault/connect", input);
    Object.assign(attempt, { id: response.id, link: response.authorizationUrl });
    attempt.back = await unlessKilled(() => obtainCallback(attempt.visitor, attempt.link, attempt.grant.code));
    const { status, heading } = await unlessKilled(() => openCallback(attempt.visitor, attempt.back));
    assert.deepEqual([status, heading], [200, "plain is connected"]);
    attempt.isDone = true;
    own.push(recordConnected(attempt, (await sendRequest(200, "GET", `/v1/vault/connect/${attempt.id}`)).connection));
  }

  function recordConnected(attempt, connection) {
    attempt.isKnown = true;
    return recordCreated(connection, {
      grant: attempt.grant,
      token: attempt.grant.accessTokens.at(-1),
      isConnected: true,
    });
  }

  /** Reads tokens so that each is refreshed: expired ones automatically, others by `?refresh=true`. */
  async function refreshTokens(own) {
    for (const record of own.slice(-READ_COUNT)) {
      const query = record.grant.life === LONG_LIFETIME_S ? "?refresh=true" : "";
      record.token = (await sendRequest(200, "GET", `${at(record.id)}/credentials${query}`)).accessToken;
      assert.ok(record.grant.accepts(record.token));
    }
  }

  /** Runs operations in turn until the service is killed. Each caller starts with another operation. */
  async function caller(round, number) {
    const connections = [];
    for (let index = number; ; index += 1) {
      const name = `${round}-${number}-${index}`;
      const steps = [
        () => change(name),
        () => enterKey(name),
        () => signIn(name, index >> 2, connections),
        () => refreshTokens(connections),
      ];
      await steps[index % steps.length]();
    }
  }

  /** Asserts that a connection and its credentials are as acknowledged. */
  async function expectAcknowledged(record) {
    const { tags, version } = await app.expect(200, "GET", at(record.id));
    // The last request may have taken effect although its response was lost.
    const tookEffect = record.open.tags && tags.join() === record.open.tags.join();
    if (tookEffect) Object.assign(record, { tags, versions: [...record.versions, Number(version)] });
    assert.deepEqual(tags, record.tags);
    assert.ok(Number(version) >= record.versions.at(-1));
    if (record.grant === undefined) await expectSecret(record);
    else if (!record.isRevoked) await expectAlive(record);
    record.open = {};
  }

  /** Asserts that the key of a connection is the acknowledged one. */
  async function expectSecret(record) {
    const response = await app.requestCredentials(record.id);
    if (response.status === 404 && record.secret === undefined) return;
    assert.equal(response.status, 200, response.text);
    if (response.json.apiKey === record.open.secret) record.secret = record.open.secret;
    assert.equal(response.json.apiKey, record.secret);
  }

  /** Asserts that the platform accepts the token of a connection, and that it can still be refreshed, unless a rotation was lost. */
  async function expectAlive(record) {
    const { grant } = record;
    const wasRotationLost = grant.isRotationLost;
    for (const query of ["", "?refresh=true"]) {
      const before = grant.accessTokens.length;
      const response = await app.requestCredentials(record.id, query);
      if (response.status !== 200) {
        // The platform issued tokens that never reached the service, and does not issue them again.
        assert.ok(grant.isStrict && record.token !== grant.accessTokens.at(-1), `${grant.code}: ${response.text}`);
        assert.deepEqual([response.status, response.json.code], [503, "unavailable"]);
        const { state, reason } = await app.status(record.id);
        assert.deepEqual([state, reason.code], ["degraded", "grant_rejected"]);
        record.isRevoked = true;
        break;
      }
      const { accessToken } = response.json;
      assert.ok(grant.accepts(accessToken), grant.code);
      assert.ok([record.token, grant.accessTokens.at(-1)].includes(accessToken), `${grant.code} has an older token`);
      assert.ok(grant.accessTokens.length <= before + 1, "at most one more refresh");
      record.token = accessToken;
    }
    if (wasRotationLost) assert.equal(record.isRevoked ?? false, grant.isStrict, grant.code);
  }

  /** Continues an interrupted attempt as a user would: by reloading the page, or else by starting again. */
  async function resume(interrupted) {
    const { grant, visitor } = interrupted;
    if (interrupted.back) await openCallback(visitor, callbackAtPort(server.port, visitor, interrupted.back));
    assert.ok(stub.requestCount(grant.code) <= 1, "a code is used once");
    const attempt = interrupted.id && (await app.attempt(interrupted.id));
    if (attempt?.status === "succeeded") {
      if (!interrupted.isKnown) recordConnected(interrupted, attempt.connection);
      const link = await visitor.get(callbackAtPort(server.port, visitor, interrupted.link));
      assert.deepEqual([link.status, link.header("location")], [410, undefined], "a link is used once");
      return;
    }
    assert.ok(!interrupted.isDone, `${interrupted.name} was connected`);
    if (stub.requestCount(grant.code) > 0) {
      const sql = "UPDATE connect_attempts SET claimed_at = claimed_at - ? WHERE id = ?";
      await opened.vault.prepare(sql).bind(EXCHANGE_MS, interrupted.id).run();
      await app.expectFailed(interrupted.id, "interrupted");
    }
    await signIn(interrupted.name, 0, [], `the second code of ${interrupted.name}`);
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
    await store(opened.vault, [apiKey]);
    await start();
    await app.setClient("plain", { clientId: "app", clientSecret: "the secret of the killed app", scopes: ["read"] });
  });

  after(async () => {
    await Promise.all([server?.stop(), stub?.stop()]);
    await opened?.close();
  });

  for (const [round, [least, when]] of ROUNDS.entries())
    test(`loses no acknowledged write after ${least} responses, when ${when}`, async () => {
      [until, killPoint, attempts, keys] = [answered + least, when, [], new Set()];
      const callers = Array.from({ length: CALLERS }, (_, number) => caller(round, number));
      for (const error of await Promise.all(callers.map((caller) => caller.catch((thrown) => thrown))))
        if (error !== SERVICE_KILLED) throw error;
      await server.ended;
      assert.ok(answered >= until && answered < sent, `${answered} of ${sent} got a response`);
      await start();
      killPoint = undefined;

      // Expires the leases of the killed process.
      await opened.vault.prepare("UPDATE credentials SET lease_until = lease_until - ?").bind(LEASE_MS).run();
      await Promise.all(attempts.map(resume));
      for (const input of keys) {
        const nextAttempt = await app.connect(input);
        if (nextAttempt.status !== 409) assert.equal(nextAttempt.status, 201, nextAttempt.text);
        const id = nextAttempt.json.id ?? nextAttempt.json.connectionId;
        recordCreated(await app.expect(200, "GET", at(id)), { secret: input.fields.apiKey, isConnected: true });
      }
      for (let index = 0; index < model.length; index += CALLERS)
        await Promise.all(model.slice(index, index + CALLERS).map(expectAcknowledged));
      const storedSecrets = model.map((record) => record.token ?? record.secret).filter(Boolean);
      assert.equal(new Set(storedSecrets).size, storedSecrets.length, "no two connections share credentials");
      const { total } = await app.expect(200, "GET", `${CONNECTIONS}?limit=1`);
      const maxConnections = model.length + CALLERS * (round + 1);
      assert.ok(total >= model.length && total <= maxConnections, `${total} connections, ${model.length} answered`);
      await expectCorrectCounts(opened.vault);

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
