// The Worker's own requests to others, as src/edge/glue.js sends them, by the `fetch` of Node.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { after, before, describe, test } from "node:test";
import { open } from "../../src/edge/glue.js";

const TIMEOUT_MS = 20_000;
const UNREACHABLE = 1;

describe("requests to platforms", { timeout: TIMEOUT_MS }, () => {
  let [platform, url] = [];

  before(async () => {
    platform = createServer();
    await once(platform.listen(0, "127.0.0.1"), "listening");
    url = `http://127.0.0.1:${platform.address().port}/`;
  });

  after(() => {
    platform.closeAllConnections();
    platform.close();
  });

  const none = new Uint8Array();

  test("who leaves before the platform has answered ends the request to it", async () => {
    const caller = new AbortController();
    const opened = open("GET", url, "", none, { signal: caller.signal }, TIMEOUT_MS);
    const [, response] = await once(platform, "request");
    const closed = once(response, "close");
    caller.abort();
    assert.equal(await opened, UNREACHABLE);
    await closed;
    assert.equal(response.writableFinished, false);
  });

  test("who leaves while the platform answers ends the answer", async () => {
    const caller = new AbortController();
    const opened = open("GET", url, "", none, { signal: caller.signal }, TIMEOUT_MS);
    const [, response] = await once(platform, "request");
    response.write("begun");
    const answer = await opened;
    assert.equal(answer.status, 200);
    const closed = once(response, "close");
    caller.abort();
    await assert.rejects(answer.text(), { name: "AbortError" });
    await closed;
    assert.equal(response.writableFinished, false);
  });

  test("a runtime without such signals sends all the same", async () => {
    for (const request of [undefined, {}, { signal: null }]) {
      const opened = open("GET", url, "", none, request, TIMEOUT_MS);
      const [, response] = await once(platform, "request");
      response.end("whole");
      assert.equal(await (await opened).text(), "whole");
    }
  });
});
