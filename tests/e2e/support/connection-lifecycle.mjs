// The lifecycle of a connection: use and idle periods, an outage of the platform, a revoked grant, and a reconnect. Shared by a
// suite with simulated time, and by `npm run lab -- soak` in real time.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { verifyWebhook } from "connector-vault";
import { App, Visitor, agree, openCallback, isCallback } from "./connecting.mjs";
import { Console } from "./console.mjs";
import { listen } from "./listening.mjs";
import { CLIENTS, IDP_SCOPES } from "./oidc.mjs";

const PLATFORM = "idp-basic";
const USER = "ann";
/** The number of concurrent readers of the credentials. */
const READERS = 5;
const TOKEN_LIFETIME_MS = 60_000;
/** The idle times after each minute of use, in rotation. */
const IDLE_MS = [20_000, 70_000, 150_000];
/** The intervals between reads, and between polls of the status. */
const [READ_INTERVAL_MS, STATUS_INTERVAL_MS] = [3_000, 5_000];
/** The timeout of a state change: the first retries follow after 1 and 5 minutes, with up to 20 % of jitter. */
const STATE_TIMEOUT_MS = 10 * 60_000;
const [DELIVERY_TIMEOUT_MS, POLL_INTERVAL_MS] = [30_000, 100];

/** A webhook receiver: records verified events, and responds to others with 400. */
const receiver = (secret, events) =>
  createServer(async (request, response) => {
    try {
      const body = Buffer.concat(await Array.fromAsync(request));
      events.push(await verifyWebhook({ headers: request.headers, body }, secret()));
      response.writeHead(204).end();
    } catch {
      response.writeHead(400).end();
    }
  });

/** The console of a service, which also links to the authorization server. */
class LifecyclePages extends Console {
  get origins() {
    return [this.baseUrl, this.idp.issuer];
  }
}

export class ConnectionLifecycle {
  #events = [];
  #receiver = receiver(() => this.#webhook.secret, this.#events);
  #webhook;

  /**
   * @param {{ server: { send: Function, port: number }, key: { secret: string }, idp: import("./oidc.mjs").Idp, browser: object,
   *   minutes: number, later: (ms: number, id: string) => Promise<void>, log: (text: string) => void }} fixture
   *   `minutes`: the time of use and idle periods; `later`: advances the time of a connection
   */
  constructor(fixture) {
    Object.assign(this, fixture);
    this.app = new App(() => this.server, this.key);
    const { browser, idp } = this;
    this.pages = Object.assign(new LifecyclePages(), { baseUrl: `http://127.0.0.1:${this.server.port}`, browser, idp });
  }

  /** Runs all phases. Throws at the first deviation. */
  async run() {
    const lifetime = this.idp.lifetime;
    this.idp.lifetime = TOKEN_LIFETIME_MS / 1000;
    try {
      await this.#connect();
      await this.#use();
      await this.#surviveOutage();
      await this.#loseGrant();
      await this.#reconnect();
      await this.app.expect(204, "DELETE", `/v1/webhooks/${this.#webhook.id}`);
    } finally {
      this.idp.lifetime = lifetime;
      this.#receiver.closeAllConnections();
      this.#receiver.close();
    }
  }

  async #connect() {
    const { client_id: clientId, client_secret: clientSecret } = CLIENTS[PLATFORM];
    await this.app.setClient(PLATFORM, { clientId, clientSecret, scopes: IDP_SCOPES });
    const url = `http://127.0.0.1:${await listen(this.#receiver)}/hook`;
    this.#webhook = await this.app.expect(201, "POST", "/v1/webhooks", { url });
    const visitor = new Visitor();
    const attempt = await this.app.begin({ platform: PLATFORM, identity: USER });
    await openCallback(
      visitor,
      await this.idp.visit(visitor, await agree(visitor, attempt.link), { login: USER }, isCallback),
    );
    this.connection = await this.app.expectConnected(attempt.id);
    this.id = this.connection.id;
    this.log(`connected: ${this.connection.key}, ${this.connection.state}`);
  }

  /** Alternates use and idle periods shorter and longer than a token's lifetime. Every response and token must be valid. */
  async #use() {
    const before = this.idp.requests.length;
    const tokens = new Set();
    let [responses, passed] = [0, 0];
    const pass = (ms) => {
      passed += ms;
      return this.later(ms, this.id);
    };
    for (let round = 0; passed < this.minutes * 60_000; round += 1) {
      for (const end = passed + TOKEN_LIFETIME_MS; passed < end; await pass(READ_INTERVAL_MS)) {
        const reads = Array.from({ length: READERS }, () => this.app.credentials(this.id));
        for (const { accessToken, headers } of await Promise.all(reads)) {
          assert.equal(await this.idp.userOf(headers), USER);
          tokens.add(accessToken);
          responses += 1;
        }
      }
      const idle = IDLE_MS[round % IDLE_MS.length];
      this.log(`${responses} responses, ${tokens.size} tokens, none rejected; idle for ${idle / 1000} s`);
      await pass(idle);
    }
    assert.ok(tokens.size > 1, "no token has expired in the meantime");
    const refreshes = Array.from({ length: tokens.size - 1 }, () => ({ grant: "refresh_token" }));
    assert.deepEqual(this.idp.requests.slice(before), refreshes, "one refresh per token");
    assert.equal((await this.app.status(this.id)).state, "operational");
    assert.deepEqual(
      this.#events.map(({ type }) => type).filter((type) => /degraded|failed/.test(type)),
      [],
    );
    this.log(`${(passed / 60_000).toFixed(1)} minutes of use and idle periods: operational, no failed response`);
  }

  /** Stops and restarts the platform, and asserts that the connection recovers. */
  async #surviveOutage() {
    await this.idp.stop();
    await this.later(TOKEN_LIFETIME_MS, this.id);
    const refused = await this.app.requestCredentials(this.id);
    assert.deepEqual([refused.status, refused.json.code], [503, "refresh_failed"]);
    const { state, reason, actor, nextAttemptAt } = await this.app.status(this.id);
    assert.deepEqual([state, reason.code, actor], ["degraded", "platform_unavailable", "nobody"]);
    assert.ok(Date.parse(nextAttemptAt) > Date.now());
    await this.#inConsole(async ({ region, fact }) => {
      await region.getByText("degraded", { exact: true }).waitFor();
      const [why, who] = [await fact("Reason"), await fact("Who must act")];
      assert.match(why, /platform_unavailable/);
      assert.match(who, /^No action needed: the service retries (in|now)/);
      this.log(`server stopped: degraded, ${reason.code}, next attempt at ${nextAttemptAt}`);
      this.log(`the console: “${why}”, “${who}”`);
    });
    await this.idp.restart();
    const before = this.idp.requests.length;
    await this.#stateBecomes("operational");
    assert.deepEqual(this.idp.requests.slice(before), [{ grant: "refresh_token" }]);
    await this.#eventOf("connection.recovered");
    this.log("server restarted: operational without any request");
  }

  /** Revokes the grant at the platform, as its user would, and asserts that the connection fails. */
  async #loseGrant() {
    const credentials = await this.app.credentials(this.id);
    assert.equal(await this.idp.userOf(credentials.headers), USER);
    await this.idp.revoke(credentials.accessToken);
    const refused = await this.app.requestCredentials(this.id, "?refresh=true");
    assert.deepEqual([refused.status, refused.json.code], [503, "refresh_failed"]);
    const { reason, actor } = await this.#stateBecomes("failed");
    assert.deepEqual([reason.code, actor], ["grant_ended", "user"]);
    const { id, type, data } = await this.#eventOf("connection.failed");
    assert.deepEqual([data.connection.id, data.reason.code], [this.id, "grant_ended"]);
    assert.equal((await this.app.requestCredentials(this.id)).json.code, "connection_failed");
    this.log(`grant revoked: failed, ${reason.code}, the ${actor} must act; the receiver verified ${type}, ${id}`);
  }

  /** Creates a link in the console, with which the user reconnects the connection. */
  async #reconnect() {
    await this.#inConsole(async ({ page, region }) => {
      await region.getByText("The user must reconnect.").waitFor();
      await region.getByRole("button", { name: "Reconnect", exact: true }).click();
      const dialog = page.getByRole("dialog", { name: `Reconnect ${USER}` });
      await dialog.getByRole("button", { name: "Get the link", exact: true }).click();
      const [tab] = await Promise.all([
        page.context().waitForEvent("page"),
        dialog.getByRole("link", { name: "Open in a new tab" }).click(),
      ]);
      await tab.getByRole("button", { name: `Yes, continue to ${PLATFORM}`, exact: true }).click();
      await tab.locator("[name=login]").fill(USER);
      const submit = () => tab.getByRole("button", { name: "Go on" }).click();
      await submit();
      await tab.locator("form:not(:has([name=login]))").waitFor();
      await submit();
      await dialog.getByText(`${USER} is connected to ${PLATFORM} again.`).waitFor();
      await dialog.locator(".buttons").getByRole("button", { name: "Close", exact: true }).click();
      await region.getByText("operational", { exact: true }).waitFor();
    });
    const { id, key, state, active } = await this.app.expect(200, "GET", `/v1/vault/connections/${this.id}`);
    assert.deepEqual([id, key, state, active], [this.id, this.connection.key, "operational", true]);
    assert.equal(await this.idp.userOf((await this.app.credentials(id)).headers), USER);
    await this.#eventOf("connection.reconnected");
    this.log(`reconnected from the console: the same id and key, ${state}`);
  }

  /** Waits until the service changes the state to this. Returns the status. */
  async #stateBecomes(expected) {
    for (let waited = 0; ; waited += STATUS_INTERVAL_MS) {
      const status = await this.app.status(this.id);
      if (status.state === expected) return status;
      assert.ok(waited < STATE_TIMEOUT_MS, `still ${status.state} after ${waited / 1000} s, not ${expected}`);
      await this.later(STATUS_INTERVAL_MS, this.id);
    }
  }

  /** Waits until the receiver has verified an event of this type. */
  async #eventOf(type) {
    for (const until = Date.now() + DELIVERY_TIMEOUT_MS; ; await pause(POLL_INTERVAL_MS)) {
      const event = this.#events.find((event) => event.type === type);
      if (event) return event;
      assert.ok(Date.now() < until, `${type} has not arrived`);
    }
  }

  /** Opens the connection in the console, and passes the region with its state and a function that reads its facts to `use`. */
  #inConsole(use) {
    return this.pages.visit(
      `/connections/${this.id}`,
      (page) => {
        const region = page.getByRole("dialog", { name: USER, exact: true }).getByRole("region", { name: "State" });
        return use({ page, region, fact: (name) => region.locator(`dt:text-is("${name}") + dd`).innerText() });
      },
      { as: this.key },
    );
  }
}
