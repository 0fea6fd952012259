// Webhooks on the real runtime: a local receiver, and verification by the package and by the libraries of Standard
// Webhooks.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { after, before, describe, test } from "node:test";
import { ConnectorVault, verifyWebhook } from "connector-vault";
import { Webhook } from "standardwebhooks";
import { App, SCOPES, connectingKey } from "../support/connecting.mjs";
import { store } from "../support/keys.mjs";
import { verifyInPython } from "../support/python.mjs";
import { Server } from "../support/server.mjs";
import { proof } from "../support/proof.mjs";

/** The time limit for a delivery, including its second attempt after 5 seconds. */
const DELIVERY_TIMEOUT_MS = 30_000;

/** A server that records requests, and returns configured responses. */
class Receiver {
  got = [];
  #waiting = [];
  /** Responds to a request. Tests replace it. */
  respond = (_, response) => response.writeHead(204).end();

  static async start() {
    const receiver = new Receiver();
    receiver.server = createServer(async (request, response) => {
      const chunks = await Array.fromAsync(request);
      const { headers, method, url } = request;
      receiver.got.push({ headers, method, url, body: Buffer.concat(chunks).toString() });
      receiver.respond(request, response);
      for (const notify of receiver.#waiting.splice(0)) notify();
    });
    receiver.server.listen(0, "127.0.0.1");
    await once(receiver.server, "listening");
    receiver.url = `http://127.0.0.1:${receiver.server.address().port}/hooks`;
    return receiver;
  }

  /** Waits until this many requests have arrived, and returns them. */
  async take(count) {
    const timeout = AbortSignal.timeout(DELIVERY_TIMEOUT_MS);
    while (this.got.length < count) {
      await new Promise((resolve, reject) => {
        this.#waiting.push(resolve);
        timeout.addEventListener("abort", () => reject(new Error(`${this.got.length} of ${count} requests arrived`)));
      });
    }
    return this.got.splice(0);
  }

  async stop() {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, "close");
  }
}

export function connectWebhooks(fixture) {
  const apiKey = connectingKey({ account: "webhooks", scopes: `${SCOPES} events:read webhooks:read webhooks:write` });
  let [server, receiver, vault] = [];
  const app = new App(() => server, apiKey);
  const origin = () => `http://127.0.0.1:${server.port}`;
  const connection = (identity) =>
    app.expect(201, "POST", "/v1/vault/connections", { platform: "plain", identity, identityType: "user" });

  describe("webhooks", () => {
    before(async () => {
      await store(fixture.database, [apiKey]);
      server = await Server.start(fixture.state, fixture.configuration("connect-webhooks"));
      receiver = await Receiver.start();
      vault = new ConnectorVault({ baseUrl: origin(), secret: apiKey.secret });
    });

    after(async () => {
      await receiver?.stop();
      await server?.stop();
    });

    test("an event arrives after the response, and four libraries agree that it is signed", async () => {
      const webhook = await vault.webhooks.create({ url: receiver.url });
      const created = await connection("ann");
      const [request] = await receiver.take(1);
      assert.deepEqual([request.method, request.url], ["POST", "/hooks"]);
      const event = await verifyWebhook(request, webhook.secret);
      assert.equal(event.type, "connection.created");
      assert.deepEqual(event.data.connection, created);
      assert.deepEqual(new Webhook(webhook.secret).verify(request.body, request.headers), event);
      assert.deepEqual(await verifyInPython(request, webhook.secret), event);
      const asFetch = new Request(receiver.url, { method: "POST", headers: request.headers, body: request.body });
      assert.deepEqual(await verifyWebhook(asFetch, ["whsec_b3RoZXI=", webhook.secret]), event);
      for await (const listed of vault.events.list()) assert.deepEqual(listed, event);

      const forged = { ...request, body: request.body.replace("ann", "eve") };
      const old = { ...request, headers: { ...request.headers, "webhook-timestamp": "1700000000" } };
      const renamed = { ...request, headers: { ...request.headers, "webhook-id": "evt_0000000000009" } };
      const { "webhook-signature": _, ...unsigned } = request.headers;
      for (const invalidRequest of [forged, old, renamed, { ...request, headers: unsigned }]) {
        await assert.rejects(verifyWebhook(invalidRequest, webhook.secret), { code: "invalid_signature" });
      }
      await assert.rejects(verifyWebhook(request, "whsec_b3RoZXI="), { code: "invalid_signature" });
      await assert.rejects(verifyInPython(forged, webhook.secret), /WebhookVerificationError/);
      await assert.rejects(verifyWebhook({ ...request, body: JSON.parse(request.body) }, webhook.secret), {
        code: "invalid_argument",
      });
    });

    test("a failed delivery is retried after five seconds, signed with both secrets during a rotation", async () => {
      const [webhook] = await vault.webhooks.list();
      const { secret } = await vault.webhooks.rotate(webhook.id);
      receiver.respond = (_, response) => response.writeHead(503).end();
      const startedAt = Date.now();
      await connection("bob");
      const [first] = await receiver.take(1);
      receiver.respond = (_, response) => response.writeHead(200).end("thanks");
      const [second] = await receiver.take(1);
      assert.ok(Date.now() - startedAt >= 5_000);
      assert.deepEqual([second.body, second.headers["webhook-id"]], [first.body, first.headers["webhook-id"]]);
      assert.equal(second.headers["webhook-signature"].split(" ").length, 2);
      await verifyWebhook(second, secret);
    });

    test("rotations at the same moment all succeed", async () => {
      const { id, secret } = await vault.webhooks.create({ url: receiver.url, active: false });
      const rotated = await Promise.all(Array.from({ length: 5 }, () => vault.webhooks.rotate(id)));
      assert.ok(rotated.every((webhook) => webhook.id === id && webhook.secret !== secret));
      await vault.webhooks.delete(id);
    });

    test("deliveries contain the event, and a replay sends it again", async () => {
      const [webhook] = await vault.webhooks.list();
      const [latest, first] = await Array.fromAsync(vault.webhooks.deliveries(webhook.id));
      assert.deepEqual([first.state, first.attempts, first.httpStatus], ["delivered", 1, 204]);
      assert.deepEqual([latest.type, latest.event > first.event], ["connection.created", true]);
      const replayed = await vault.webhooks.replay(webhook.id, { from: first.event, to: first.event });
      assert.deepEqual(replayed, { queued: 1, next: null });
      const [again] = await receiver.take(1);
      assert.equal(again.headers["webhook-id"], first.event);
    });

    test("a test returns the receiver's response: redirects are not followed, a timeout is reported", async () => {
      const [{ id }] = await vault.webhooks.list();
      assert.partialDeepStrictEqual(await vault.webhooks.test(id), { delivered: true, httpStatus: 200, error: null });
      const [sent] = await receiver.take(1);
      assert.match(sent.body, /"type":"webhook.test"/);
      receiver.respond = (_, response) => response.writeHead(302, { location: "/elsewhere" }).end();
      assert.partialDeepStrictEqual(await vault.webhooks.test(id), { delivered: false, httpStatus: 302 });
      receiver.respond = (request) => request.socket.destroy();
      assert.partialDeepStrictEqual(await vault.webhooks.test(id), { delivered: false, error: "unreachable" });
      assert.deepEqual(
        (await receiver.take(2)).map(({ url }) => url),
        ["/hooks", "/hooks"],
      );
    });

    test("a webhook is disabled if its receiver responds with 410, and an event reports that", async () => {
      const [{ id }] = await vault.webhooks.list();
      receiver.respond = (_, response) => response.writeHead(410).end();
      await connection("eve");
      await receiver.take(1);
      // The outcome is written after the response, and appears in the feed.
      const until = Date.now() + DELIVERY_TIMEOUT_MS;
      let events = [];
      while (events.length === 0 && Date.now() < until) {
        events = await Array.fromAsync(vault.events.list({ types: ["webhook.disabled"] }));
      }
      assert.deepEqual(events[0].data, {
        webhook: { id },
        reason: { code: "gone", detail: null, httpStatus: 410 },
      });
      const { active, disabled } = await vault.webhooks.get(id);
      assert.deepEqual([active, disabled], [false, { code: "gone", httpStatus: 410 }]);
      await connection("unnoticed");
      assert.deepEqual(await vault.webhooks.update(id, { active: true }).then(({ disabled }) => disabled), null);
      await vault.webhooks.delete(id);
      await assert.rejects(vault.webhooks.get(id), { code: "webhook_not_found" });
      assert.deepEqual(receiver.got, []);
    });

    proof("an event is delivered even if the service is killed before the delivery", async () => {
      receiver.respond = (_, response) => response.writeHead(204).end();
      const { id, secret } = await vault.webhooks.create({ url: receiver.url });
      // A delivery is sent only after its row has been updated to claim it. This trigger blocks the claim, so the
      // delivery stays unsent.
      const stop =
        "CREATE TRIGGER nothing_is_taken BEFORE UPDATE ON deliveries BEGIN SELECT RAISE(ABORT, 'not now'); END";
      await fixture.database.prepare(stop).run();
      let created;
      try {
        created = await connection("left unsent");
        server.kill("SIGKILL");
        await server.ended;
      } finally {
        await fixture.database.prepare("DROP TRIGGER nothing_is_taken").run();
      }
      assert.deepEqual(receiver.got, []);
      server = await Server.start(fixture.state, fixture.configuration("connect-webhooks"));
      vault = new ConnectorVault({ baseUrl: origin(), secret: apiKey.secret });
      const ran = await server.send("/cdn-cgi/local/scheduled?cron=*+*+*+*+*");
      assert.deepEqual([ran.status, ran.text], [200, "ok"]);
      const [request] = await receiver.take(1);
      const event = await verifyWebhook(request, secret);
      assert.deepEqual([event.type, event.data.connection], ["connection.created", created]);
      await vault.webhooks.delete(id);
    });

    test("a URL of the service itself is rejected", async () => {
      await assert.rejects(vault.webhooks.create({ url: `${origin()}/v1/events` }), { code: "invalid_body" });
      assert.deepEqual(
        vault.webhooks.validateCreate({ url: "https://app.example/", types: ["connection.broken"] }).length,
        1,
      );
    });
  });
}
