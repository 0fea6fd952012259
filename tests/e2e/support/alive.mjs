// The life of a connection: used and left alone, through an outage of the platform, until its user revokes the grant and
// reconnects. Told once: a suite runs it in a hurry, `npm run lab -- soak` in its own time.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { verifyWebhook } from "connector-vault";
import { App, Visitor, agree, comeBack, isCallback } from "./connecting.mjs";
import { Console } from "./console.mjs";
import { listen } from "./listening.mjs";
import { CLIENTS, IDP_SCOPES } from "./oidc.mjs";

const PLATFORM = "idp-basic";
const USER = "ann";
/** How many read the credentials at once. */
const READERS = 5;
/** How long an access token lives. */
const LIFE_MS = 60_000;
/** How long nobody reads after each such minute of use, in turns. */
const IDLE_MS = [20_000, 70_000, 150_000];
/** Between two reads, and between two looks at what the service does by itself. */
const [READ_MS, LOOK_MS] = [3_000, 5_000];
/** How long the service may take for that: its first pauses after failures are 1 and 5 minutes, and up to a fifth longer. */
const PATIENCE_MS = 10 * 60_000;
/** How long an event may be on its way, and how often it is looked for. */
const [ARRIVES_MS, POLL_MS] = [30_000, 100];

/** A receiver of webhooks: keeps the events that are really the service's, and answers the rest with a 400. */
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

/** The console of a service, which links to an authorization server. */
class Pages extends Console {
  get origins() {
    return [this.baseUrl, this.idp.issuer];
  }
}

export class Life {
  #events = [];
  #receiver = receiver(() => this.#webhook.secret, this.#events);
  #webhook;

  /**
   * @param {{ server: { send: Function, port: number }, key: { secret: string }, idp: import("./oidc.mjs").Idp, browser: object,
   *   minutes: number, later: (ms: number, id: string) => Promise<void>, say: (text: string) => void }} world
   *   `minutes`: how long the connection is used and left alone; `later`: lets time pass for it
   */
  constructor(world) {
    Object.assign(this, world);
    this.app = new App(() => this.server, this.key);
    const { browser, idp } = this;
    this.pages = Object.assign(new Pages(), { baseUrl: `http://127.0.0.1:${this.server.port}`, browser, idp });
  }

  /** Lives through it. Throws at the first thing that is not as it should be. */
  async live() {
    const usual = this.idp.life;
    this.idp.life = LIFE_MS / 1000;
    try {
      await this.#connect();
      await this.#use();
      await this.#endure();
      await this.#lose();
      await this.#reconnect();
      await this.app.expect(204, "DELETE", `/v1/webhooks/${this.#webhook.id}`);
    } finally {
      this.idp.life = usual;
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
    const begun = await this.app.begin({ platform: PLATFORM, identity: USER });
    await comeBack(
      visitor,
      await this.idp.visit(visitor, await agree(visitor, begun.link), { login: USER }, isCallback),
    );
    this.connection = await this.app.connected(begun.id);
    this.id = this.connection.id;
    this.say(`connected: ${this.connection.key}, ${this.connection.state}`);
  }

  /** Is used, and left alone for less than a token lives, and for longer: every answer is good, and every token works. */
  async #use() {
    const asked = this.idp.requests.length;
    const tokens = new Set();
    let [answers, passed] = [0, 0];
    const pass = (ms) => {
      passed += ms;
      return this.later(ms, this.id);
    };
    for (let turn = 0; passed < this.minutes * 60_000; turn += 1) {
      for (const end = passed + LIFE_MS; passed < end; await pass(READ_MS)) {
        const reads = Array.from({ length: READERS }, () => this.app.credentials(this.id));
        for (const { accessToken, headers } of await Promise.all(reads)) {
          assert.equal(await this.idp.whose(headers), USER);
          tokens.add(accessToken);
          answers += 1;
        }
      }
      const idle = IDLE_MS[turn % IDLE_MS.length];
      this.say(`${answers} answers, ${tokens.size} tokens, none refused; now nobody asks for ${idle / 1000} s`);
      await pass(idle);
    }
    assert.ok(tokens.size > 1, "tokens have expired on the way");
    const renewals = Array.from({ length: tokens.size - 1 }, () => ({ grant: "refresh_token" }));
    assert.deepEqual(this.idp.requests.slice(asked), renewals, "one renewal for each token");
    assert.equal((await this.app.status(this.id)).state, "operational");
    assert.deepEqual(
      this.#events.map(({ type }) => type).filter((type) => /degraded|failed/.test(type)),
      [],
    );
    this.say(`${(passed / 60_000).toFixed(1)} minutes of use and idleness: operational, no failed answer`);
  }

  /** The platform stops, and answers again. */
  async #endure() {
    await this.idp.stop();
    await this.later(LIFE_MS, this.id);
    const refused = await this.app.askCredentials(this.id);
    assert.deepEqual([refused.status, refused.json.code], [503, "refresh_failed"]);
    const { state, reason, actor, nextAttemptAt } = await this.app.status(this.id);
    assert.deepEqual([state, reason.code, actor], ["degraded", "platform_unavailable", "nobody"]);
    assert.ok(Date.parse(nextAttemptAt) > Date.now());
    await this.#inConsole(async ({ region, fact }) => {
      await region.getByText("degraded", { exact: true }).waitFor();
      const [why, who] = [await fact("Reason"), await fact("Who must act")];
      assert.match(why, /platform_unavailable/);
      assert.match(who, /^No action needed: the service retries (in|now)/);
      this.say(`server stopped: degraded, ${reason.code}, next attempt at ${nextAttemptAt}`);
      this.say(`the console: “${why}”, “${who}”`);
    });
    await this.idp.restart();
    const asked = this.idp.requests.length;
    await this.#becomes("operational");
    assert.deepEqual(this.idp.requests.slice(asked), [{ grant: "refresh_token" }]);
    await this.#told("connection.recovered");
    this.say("server started again: operational, and nobody had to ask");
  }

  /** The user revokes the grant there. */
  async #lose() {
    const held = await this.app.credentials(this.id);
    assert.equal(await this.idp.whose(held.headers), USER);
    await this.idp.revoke(held.accessToken);
    const refused = await this.app.askCredentials(this.id, "?refresh=true");
    assert.deepEqual([refused.status, refused.json.code], [503, "refresh_failed"]);
    const { reason, actor } = await this.#becomes("failed");
    assert.deepEqual([reason.code, actor], ["grant_ended", "user"]);
    const { id, type, data } = await this.#told("connection.failed");
    assert.deepEqual([data.connection.id, data.reason.code], [this.id, "grant_ended"]);
    assert.equal((await this.app.askCredentials(this.id)).json.code, "connection_failed");
    this.say(`grant revoked: failed, ${reason.code}, the ${actor} must act; the receiver verified ${type}, ${id}`);
  }

  /** From the console, by a link for the user. */
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
      await tab.getByRole("button", { name: `Yes, go on to ${PLATFORM}`, exact: true }).click();
      await tab.locator("[name=login]").fill(USER);
      const goOn = () => tab.getByRole("button", { name: "Go on" }).click();
      await goOn();
      await tab.locator("form:not(:has([name=login]))").waitFor();
      await goOn();
      await dialog.getByText(`${USER} is connected to ${PLATFORM} again.`).waitFor();
      await dialog.locator(".buttons").getByRole("button", { name: "Close", exact: true }).click();
      await region.getByText("operational", { exact: true }).waitFor();
    });
    const { id, key, state, active } = await this.app.expect(200, "GET", `/v1/vault/connections/${this.id}`);
    assert.deepEqual([id, key, state, active], [this.id, this.connection.key, "operational", true]);
    assert.equal(await this.idp.whose((await this.app.credentials(id)).headers), USER);
    await this.#told("connection.reconnected");
    this.say(`reconnected from the console: the same id and key, ${state}`);
  }

  /** The status of the connection once its state is this, without anybody's doing. */
  async #becomes(wanted) {
    for (let waited = 0; ; waited += LOOK_MS) {
      const status = await this.app.status(this.id);
      if (status.state === wanted) return status;
      assert.ok(waited < PATIENCE_MS, `still ${status.state} after ${waited / 1000} s, not ${wanted}`);
      await this.later(LOOK_MS, this.id);
    }
  }

  /** An event once the receiver has verified it. */
  async #told(type) {
    for (const until = Date.now() + ARRIVES_MS; ; await pause(POLL_MS)) {
      const event = this.#events.find((one) => one.type === type);
      if (event) return event;
      assert.ok(Date.now() < until, `${type} has not arrived`);
    }
  }

  /** Opens the connection in the console: what it says of its state, and the facts in that by their names. */
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
