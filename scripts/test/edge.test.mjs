// Tests of the Worker's JavaScript (src/edge/glue.js and others) in Node.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { after, before, describe, test } from "node:test";
import { bytes, isMatch, open, writePoints } from "../../src/edge/glue.js";
import { runShards, shardsDueAt } from "../../src/edge/shards.js";

const TIMEOUT_MS = 20_000;
const CALLER_LEFT = 4;

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

  const emptyBody = new Uint8Array();

  test("a caller that disconnects before the response aborts the request to the platform", async () => {
    const caller = new AbortController();
    const opened = open("GET", url, "", emptyBody, { signal: caller.signal }, TIMEOUT_MS);
    const [, response] = await once(platform, "request");
    const closed = once(response, "close");
    caller.abort();
    assert.equal(await opened, CALLER_LEFT);
    await closed;
    assert.equal(response.writableFinished, false);
  });

  test("a caller that disconnects during the response aborts the response", async () => {
    const caller = new AbortController();
    const opened = open("GET", url, "", emptyBody, { signal: caller.signal }, TIMEOUT_MS);
    const [, response] = await once(platform, "request");
    response.write("the first part");
    const reply = await opened;
    assert.equal(reply.status, 200);
    const closed = once(response, "close");
    caller.abort();
    await assert.rejects(reply.text(), { name: "AbortError" });
    await closed;
    assert.equal(response.writableFinished, false);
  });

  test("requests are sent in runtimes without `Request.signal`", async () => {
    for (const request of [undefined, {}, { signal: null }]) {
      const opened = open("GET", url, "", emptyBody, request, TIMEOUT_MS);
      const [, response] = await once(platform, "request");
      response.end("whole");
      assert.equal(await (await opened).text(), "whole");
    }
  });
});

test("a body must arrive within 30 seconds", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const slow = () => {
    let source;
    const stream = new ReadableStream({ start: (controller) => (source = controller) });
    source.enqueue(new Uint8Array(5));
    return { message: new Response(stream), source };
  };
  const slowBody = slow();
  const sizes = [];
  const read = bytes(slowBody.message, 10, (size) => sizes.push(size) > 0);
  const quickBody = slow();
  const completeBody = bytes(quickBody.message, 10);
  await new Promise(setImmediate);
  context.mock.timers.tick(29_999);
  slowBody.source.enqueue(new Uint8Array(1));
  await new Promise(setImmediate);
  assert.deepEqual(sizes, [5, 6]);
  quickBody.source.close();
  assert.equal((await completeBody).length, 5);
  context.mock.timers.tick(1);
  assert.equal(await read, undefined);
  assert.throws(() => slowBody.source.enqueue(new Uint8Array(1)), TypeError, "the transfer has ended");
  for (const [limit, grow] of [
    [4, undefined],
    [10, () => false],
  ]) {
    const { message, source } = slow();
    assert.equal(await bytes(message, limit, grow), null);
    assert.throws(() => source.enqueue(new Uint8Array(1)), TypeError);
  }
  assert.equal((await bytes(new Response(null), 10, () => true)).length, 0);
});

test("the schedule visits a few databases per minute, and each one regularly", () => {
  const env = (count) => {
    const names = ["WORK", "VAULT", "VAULT_KEYS", ...Array.from({ length: count - 1 }, (_, at) => `VAULT_${at + 1}`)];
    return Object.fromEntries(names.map((name) => [name, {}]));
  };
  const numbers = (count) => Array.from({ length: count }, (_, at) => at);
  const at = (count, minute) => shardsDueAt(env(count), minute * 60_000 + 59_999);
  assert.deepEqual(shardsDueAt({}, 1), []);
  for (const count of [1, 3, 10]) assert.deepEqual(at(count, 7), numbers(count));
  for (const [count, turns] of [
    [11, 2],
    [20, 2],
    [21, 3],
    [1000, 100],
  ]) {
    for (const start of [0, 1, 29_000_000]) {
      const visited = numbers(turns).map((minute) => at(count, start + minute));
      assert.ok(visited.every(({ length }) => length > 0 && length <= 10));
      assert.deepEqual(
        visited.flat().sort((a, b) => a - b),
        numbers(count),
      );
      assert.deepEqual(at(count, start + turns), visited[0]);
    }
  }
});

test("a failing or slow database does not delay the others", async () => {
  const env = { VAULT: {}, VAULT_1: {}, VAULT_2: {} };
  let finishSlow;
  const slow = new Promise((resolve) => (finishSlow = resolve));
  const [started, finished] = [[], []];
  const run = async (number) => {
    started.push(number);
    if (number === 0) await slow;
    if (number === 1) throw "VAULT_1: no";
    finished.push(number);
  };
  const allShards = runShards(env, 0, run);
  assert.deepEqual(started, [0, 1, 2]);
  assert.deepEqual(finished, [2]);
  finishSlow();
  await assert.rejects(allShards, (cause) => cause === "VAULT_1: no");
  assert.deepEqual(finished, [2, 0]);
  await runShards({ VAULT: {} }, 0, async () => {});
});

test("patterns are compiled as in HTML, or else as in JSON Schema", () => {
  for (const [pattern, text, expected] of [
    ["[a-z]+", "abc", true],
    ["[a-z]+", "abc1", false],
    ["[\\p{L}--[a-z]]", "A", true],
    ["[\\p{L}--[a-z]]", "a", false],
    // HTML does not allow this character class, so the rules of JSON Schema apply.
    ["[-\\w\\._]+", "a-b.c", true],
    ["[-\\w\\._]+", "a b", false],
    ["(", "anything", true],
  ])
    assert.equal(isMatch(pattern, text), expected, `${pattern} ${text}`);
});

test("data points are written in the format of Workers Analytics Engine, if there is a dataset", () => {
  const writtenPoints = [];
  const points = JSON.stringify([
    ["acme", ["acme", "test", "calls", "2xx", "github", ""], 2],
    ["other", ["other", "live", "catalog", "4xx", "", "ann"], 1],
  ]);
  writePoints({ USAGE: { writeDataPoint: (point) => void writtenPoints.push(point) } }, points);
  assert.deepEqual(writtenPoints, [
    { indexes: ["acme"], blobs: ["acme", "test", "calls", "2xx", "github", ""], doubles: [2] },
    { indexes: ["other"], blobs: ["other", "live", "catalog", "4xx", "", "ann"], doubles: [1] },
  ]);
  writePoints({}, points);
});
