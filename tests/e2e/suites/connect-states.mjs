// Each row of the table of states in docs/api.md, on the real runtime. The table is generated from the code, so this
// tests the documentation.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { App, Visitor, openCallback, connectingKey, obtainCallback } from "../support/connecting.mjs";
import { page } from "../support/docs.mjs";
import { store } from "../support/keys.mjs";
import { freshTokens, reply } from "../support/stub.mjs";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

const docs = page("docs/api.md");
const [, ...rows] = docs.tables.find(([[first]]) => first === "from");
const ROWS = rows.map((row) => row.map((cell) => cell.replaceAll("`", "")));
const START_STATES = {
  new: [undefined],
  "any but failed": ["operational", "unknown", "degraded"],
  "operational, unknown": ["operational", "unknown"],
  degraded: ["degraded"],
  failed: ["failed"],
};

/** The pauses after failures, as docs/api.md states them. */
const [, minutes, hours] = /tries again after ([\d, ]+ and \d+) minutes, then (\d+) hours/.exec(docs.text);
const PAUSES = [...minutes.split(/, | and /).map((count) => Number(count) * MINUTE_MS), Number(hours) * 60 * MINUTE_MS];

const refusal = (error, status = 400) => [{ error }, { status }];
/** The rows of the table about failures: the platform's response, and the test platforms that can send it. */
const FAILURES = {
  "the platform can't be reached, or answers 408, 425, 429 or 5xx": [["down", { status: 503 }], "plain", "checked"],
  "the platform's response can't be read": [["<h1>Hello</h1>", { type: "text/html" }], "plain"],
  "the platform refuses the refresh token": [refusal("invalid_grant"), "plain"],
  "the platform rejects the API key, token or password": [refusal("unknown key", 401), "checked"],
  "the platform denies access": [refusal("access_denied"), "plain"],
  "the platform rejects the OAuth client, or there is none": [refusal("invalid_client", 401), "plain"],
  "the platform does not serve the OAuth client, perhaps for this connection only (unauthorized_client, or an unknown code with 401)":
    [refusal("unauthorized_client"), "plain"],
  "the platform rejects the token request": [refusal("invalid_request"), "plain"],
};

export function connectStates(fixture) {
  const keys = ROWS.map((_, n) => connectingKey({ account: `states-${n}` }));
  const pauseKey = connectingKey({ account: "states-pausing" });
  let subjectCount = 0;

  /** A connection, and the platform's responses for it. */
  class Subject {
    constructor(app, platform) {
      subjectCount += 1;
      Object.assign(this, {
        app,
        platform,
        identity: `user ${subjectCount}`,
        secret: `secret ${subjectCount} of the states Zx9Qw7`,
      });
      fixture.stub.on(this.secret, (it) => reply(it, ...this.currentResponse()));
    }

    validTokens = () => [freshTokens({ refresh_token: this.secret })];
    currentResponse = this.validTokens;
    respondWith = (response) => (this.currentResponse = response ? () => response : this.validTokens);

    async create() {
      const { platform, identity } = this;
      const input = { platform, identity, identityType: "user" };
      ({ id: this.id } = await this.app.expect(201, "POST", "/v1/vault/connections", input));
    }

    /** The user signs in or enters a key, for the first time or again. */
    async connect() {
      const { platform, identity, id, secret } = this;
      const input = id ? { connection: id } : { platform, identity };
      if (platform !== "plain") {
        const type = id ? {} : { identityType: "user" };
        const status = id ? 200 : 201;
        const sent = { ...type, ...input, fields: { apiKey: secret } };
        ({ id: this.id } = await this.app.expect(status, "POST", "/v1/vault/connect", sent));
        return;
      }
      const visitor = new Visitor();
      const { id: attempt, link } = await this.app.begin(input);
      await openCallback(visitor, await obtainCallback(visitor, link, secret));
      ({ id: this.id } = await this.app.expectConnected(attempt));
    }

    /** Imports a refresh token, which has not been used yet. */
    async import() {
      await this.create();
      const credentials = { type: "oauth2", refreshToken: this.secret };
      await this.app.expect(204, "PUT", `/v1/vault/connections/${this.id}/credentials`, credentials);
    }

    check = () => this.app.expect(200, "POST", `/v1/vault/connections/${this.id}/check`);

    sql = (sql) => fixture.database.prepare(sql).bind(this.id).run();

    /** Simulates time by moving the timestamps of this connection's credentials into the past. */
    passTime(milliseconds) {
      const changes = ["failing_since", "refused_since"].map((name) => `${name} = ${name} - ${milliseconds}`);
      return this.sql(`UPDATE credentials SET ${changes}, next_attempt_at = 1 WHERE connection_id = ?`);
    }

    async fail(response, { twice } = {}) {
      this.respondWith(response);
      await this.check();
      if (twice === undefined) return;
      await this.passTime(twice);
      await this.check();
    }

    /** Brings the connection into a state. */
    async changeState(state) {
      if (state === "unknown" && this.platform === "plain") return this.import();
      await this.connect();
      // Simulates a catalog that declared a check only after these credentials were stored.
      if (state === "unknown") await this.sql("UPDATE connections SET state = 'unknown' WHERE id = ?");
      if (state === "degraded") {
        await this.fail(["down", { status: 503 }]);
        await this.passTime(2 * MINUTE_MS);
      }
      const end = this.platform === "plain" ? refusal("invalid_grant") : refusal("unknown key", 401);
      if (state === "failed") await this.fail(end, { twice: MINUTE_MS });
      assert.equal((await this.app.status(this.id)).state, state);
      this.respondWith();
    }

    async expect(state, code, actor) {
      const [status, { active }] = [
        await this.app.status(this.id),
        await this.app.expect(200, "GET", `/v1/vault/connections/${this.id}`),
      ];
      assert.deepEqual([status.state, status.reason?.code ?? "", status.actor], [state, code, actor]);
      assert.deepEqual([active, status.nextAttemptAt !== null], [state !== "failed", state === "degraded"]);
    }
  }

  const newSubject = async (app, platform, trigger) => {
    const created = new Subject(app, platform);
    await trigger(created);
    return created;
  };

  /** For each row of the table, a function that triggers its event: (app, from) => the affected connections. */
  const TRIGGERS = {
    "the user signs in, or the platform accepts the credentials": (app) =>
      ["plain", "checked"].map((platform) => newSubject(app, platform, (it) => it.connect())),
    "credentials are stored that nothing can check": (app) => [
      newSubject(app, "plain", (it) => it.import()),
      newSubject(app, "unchecked", (it) => it.connect()),
    ],
    "credentials are stored, and the platform does not say whether it accepts them": (app) => [
      newSubject(app, "checked", async (it) => {
        it.respondWith(["down", { status: 503 }]);
        await it.connect();
      }),
    ],
    "it is created without credentials, and without a state": (app) => [newSubject(app, "plain", (it) => it.create())],
    "a refresh or a check succeeds": (app, from) =>
      ["plain", "checked"].map((platform) =>
        newSubject(app, platform, async (it) => {
          await it.changeState(from);
          await it.check();
        }),
      ),
    "the user signs in again, or the platform accepts new credentials": (app, from) =>
      ["plain", "checked"].map((platform) =>
        newSubject(app, platform, async (it) => {
          await it.changeState(from);
          await it.connect();
        }),
      ),
  };
  for (const [what, [response, ...platforms]] of Object.entries(FAILURES)) {
    TRIGGERS[what] = (app, from) =>
      platforms.map((platform) =>
        newSubject(app, platform, async (it) => {
          await it.changeState(from);
          await it.fail(response);
        }),
      );
    for (const [words, twice] of [
      [" again, at least a minute after the first time", MINUTE_MS],
      [", 3 days or more after its first refusal", 3 * DAY_MS],
    ])
      TRIGGERS[what + words] = (app) =>
        platforms.map((platform) =>
          newSubject(app, platform, async (it) => {
            await it.changeState("operational");
            await it.fail(response, { twice });
          }),
        );
  }

  /** Creates an app with a separate account, so that a rejected OAuth client does not affect other rows. */
  async function appOf(key) {
    const app = new App(() => fixture.server, key);
    await app.setClient("plain", { clientId: "app", clientSecret: "the secret of the states", scopes: ["read"] });
    return app;
  }

  describe("the table of states", () => {
    before(() => store(fixture.database, [...keys, pauseKey]));

    for (const [n, [from, what, to, code, actor]] of ROWS.entries())
      test(`${from}: ${what}`, async () => {
        const app = await appOf(keys[n]);
        for (const state of START_STATES[from]) {
          for (const affected of await Promise.all(TRIGGERS[what](app, state))) await affected.expect(to, code, actor);
          // Restores the OAuth client for the next state, because this row's event may have rejected it.
          const client = { clientId: "app", scopes: ["read"] };
          await app.expect(200, "PUT", "/v1/oauth-clients/plain", client);
        }
      });

    test("the pauses after failures are as documented", async () => {
      const subject = new Subject(await appOf(pauseKey), "plain");
      await subject.changeState("operational");
      subject.respondWith(["down", { status: 503 }]);
      const next = async () => {
        await subject.passTime(DAY_MS);
        const [earliest, , latest] = [Date.now(), await subject.check(), Date.now()];
        const at = Date.parse((await subject.app.status(subject.id)).nextAttemptAt);
        return { least: at - latest, most: at - earliest };
      };
      for (const pause of [...PAUSES, PAUSES.at(-1)]) {
        const { least, most } = await next();
        assert.ok(most >= 0.8 * pause && least <= 1.2 * pause, `${least} to ${most} ms instead of ${pause}`);
      }
      subject.respondWith(["wait", { status: 429, headers: { "retry-after": String(12 * 60 * 60) } }]);
      assert.ok((await next()).most >= 12 * 60 * MINUTE_MS);
      await subject.expect("degraded", "platform_unavailable", "nobody");
    });
  });
}
