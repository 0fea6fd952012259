// Tests of document downloads with failing servers, registries and networks.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { deflateRawSync, gzipSync } from "node:zlib";
import { tarFiles, zipFiles } from "../sources/archive.mjs";
import { Cache, sha256 } from "../sources/cache.mjs";
import { download } from "../sources/http.mjs";
import { packageJobs, parse } from "../sources/packages.mjs";

const folders = [];
const newCache = () => {
  folders.push(mkdtempSync(join(tmpdir(), "connector-vault-sources-")));
  return new Cache(folders.at(-1));
};
after(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })));

const DOCUMENT = Buffer.from(JSON.stringify({ openapi: "3.0.0", info: { title: "T", version: "1" }, paths: {} }));
const HASH = sha256(DOCUMENT);
/** No delay between retries. */
const LIMITS = { pauseMs: 0 };

/** Serves one response per request, and records the headers of requests. */
async function withServer(responses, body) {
  const requests = [];
  const remaining = [...responses];
  const server = createServer((request, response) => {
    requests.push(request.headers);
    remaining.shift()(response, request);
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const address = `http://127.0.0.1:${server.address().port}/openapi.json`;
  try {
    await body(address, requests, server);
    assert.equal(remaining.length, 0, "each response must have been requested");
  } finally {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  }
}

const complete =
  (headers = {}, bytes = DOCUMENT) =>
  (response) =>
    response.writeHead(200, { "content-length": bytes.length, ...headers }).end(bytes);
/** Sends this number of bytes of the document, then closes the connection. */
const truncated =
  (bytes, headers = {}) =>
  (response) => {
    response.writeHead(200, { "content-length": DOCUMENT.length, ...headers });
    response.write(DOCUMENT.subarray(0, bytes), () => setImmediate(() => response.destroy()));
  };
const status = (code) => (response) => response.writeHead(code).end("no");
const rest =
  (from, headers = {}) =>
  (response) =>
    response
      .writeHead(206, { "content-range": `bytes ${from}-${DOCUMENT.length - 1}/${DOCUMENT.length}`, ...headers })
      .end(DOCUMENT.subarray(from));

test("a document is stored by its hash, and requested with its ETag the next time", async () => {
  const cache = newCache();
  await withServer([complete({ etag: '"1"' }), status(304)], async (address, requests) => {
    assert.equal(await download(address, cache), HASH);
    assert.deepEqual(readFileSync(cache.document(HASH)), DOCUMENT);
    assert.equal(await download(address, cache), HASH);
    assert.deepEqual(
      requests.map((headers) => headers["if-none-match"]),
      [undefined, '"1"'],
    );
  });
});

test("a document without an ETag is requested with its last modification time", async () => {
  const time = "Thu, 26 Nov 2026 08:00:00 GMT";
  const cache = newCache();
  await withServer([complete({ "last-modified": time }), status(304)], async (address, requests) => {
    await download(address, cache);
    assert.equal(await download(address, cache), HASH);
    assert.equal(requests[1]["if-modified-since"], time);
  });
});

test("the record of a document that is missing from the cache is ignored", async () => {
  const cache = newCache();
  await withServer([complete({ etag: '"1"' }), complete({ etag: '"1"' })], async (address, requests) => {
    await download(address, cache);
    rmSync(cache.document(HASH));
    assert.equal(await download(address, cache), HASH);
    assert.equal(requests[1]["if-none-match"], undefined);
  });
});

test("an interrupted download is resumed", async () => {
  const cache = newCache();
  await withServer([truncated(20, { etag: '"1"' }), rest(20, { etag: '"1"' })], async (address, requests) => {
    assert.equal(await download(address, cache, LIMITS), HASH);
    assert.equal(requests[1].range, "bytes=20-");
    assert.equal(requests[1]["if-range"], '"1"');
    assert.ok(!existsSync(cache.partial(address).file));
  });
});

test("a later run resumes an interrupted download", async () => {
  const cache = newCache();
  await withServer([truncated(20, { etag: '"1"' }), rest(20, { etag: '"1"' })], async (address, requests) => {
    await assert.rejects(download(address, cache, { ...LIMITS, attempts: 1 }));
    assert.equal(await download(address, cache, LIMITS), HASH);
    assert.equal(requests[1].range, "bytes=20-");
  });
});

test("a document that has changed is downloaded from the beginning", async () => {
  const cache = newCache();
  await withServer([truncated(20, { etag: '"0"' }), complete({ etag: '"1"' })], async (address) => {
    assert.equal(await download(address, cache, LIMITS), HASH);
  });
});

test("a download without a strong ETag or modification time is not resumed", async () => {
  const cache = newCache();
  await withServer([truncated(20, { etag: 'W/"0"' }), complete()], async (address, requests) => {
    assert.equal(await download(address, cache, LIMITS), HASH);
    assert.equal(requests[1].range, undefined);
  });
});

test("if the server does not resume correctly, the download starts from the beginning", async () => {
  for (const response of [status(416), rest(10)]) {
    const cache = newCache();
    await withServer([truncated(20, { etag: '"1"' }), response, complete()], async (address, requests) => {
      assert.equal(await download(address, cache, LIMITS), HASH);
      assert.equal(requests[2].range, undefined);
    });
  }
});

test("a truncated document is never stored", async () => {
  const cache = newCache();
  await withServer([truncated(20), truncated(20), truncated(20)], async (address) => {
    await assert.rejects(download(address, cache, LIMITS), /could not be reached|ended after/);
  });
  assert.deepEqual(readdirSync(join(folders.at(-1), "documents")), []);
});

test("a stalled download is aborted, and the next run resumes it", async () => {
  const cache = newCache();
  const silent = (response) => {
    response.writeHead(200, { "content-length": DOCUMENT.length, etag: '"1"' });
    response.write(DOCUMENT.subarray(0, 20));
  };
  await withServer([silent, rest(20)], async (address) => {
    await assert.rejects(download(address, cache, { stallTimeoutMs: 100, attempts: 1 }), /sent nothing/);
    assert.equal(await download(address, cache), HASH);
  });
});

test("a download is aborted when its signal is aborted", async () => {
  const cache = newCache();
  const ends = new AbortController();
  const silent = () => ends.abort();
  await withServer([silent], async (address) => {
    await assert.rejects(download(address, cache, { ...LIMITS, signal: ends.signal }), /no time left/);
  });
});

test("a document that is too large is rejected, with or without Content-Length", async () => {
  const chunked = (response) => response.writeHead(200).end(DOCUMENT);
  for (const response of [complete(), chunked]) {
    await withServer([response], async (address) => {
      await assert.rejects(download(address, newCache(), { maxBytes: 20 }), /larger than/);
    });
  }
});

test("a temporary failure is retried, a permanent one is not", async () => {
  await withServer([status(503), status(429), complete()], async (address) => {
    assert.equal(await download(address, newCache(), LIMITS), HASH);
  });
  await withServer([status(404)], async (address) => {
    await assert.rejects(download(address, newCache(), LIMITS), /responded with 404/);
  });
  await withServer([status(500), status(500), status(500)], async (address) => {
    await assert.rejects(download(address, newCache(), LIMITS), /responded with 500/);
  });
});

test("a network failure is reported with its reason", async () => {
  let closed;
  await withServer([], async (address) => {
    closed = address;
  });
  await assert.rejects(download(closed, newCache(), LIMITS), /could not be reached: ECONNREFUSED/);
});

test("redirects from https to http are rejected", async () => {
  const to = (location) => (response) => response.writeHead(302, { location }).end();
  await withServer([to("/elsewhere"), complete()], async (address) => {
    assert.equal(await download(address, newCache(), LIMITS), HASH);
  });
  await withServer([to("http://example.com/")], async (address) => {
    await assert.rejects(
      download(address, newCache(), LIMITS),
      /redirects to http:\/\/example.com, which is not https/,
    );
  });
  await withServer(Array(6).fill(to("/again")), async (address) => {
    await assert.rejects(download(address, newCache(), LIMITS), /more than 5 times/);
  });
});

test("a replaced document stays in the cache until it is pruned", async () => {
  const replacement = Buffer.from("openapi: 3.1.0");
  const cache = newCache();
  await withServer([complete({ etag: '"1"' }), complete({ etag: '"2"' }, replacement)], async (address) => {
    await download(address, cache);
    assert.equal(await download(address, cache), sha256(replacement));
  });
  cache.prune([HASH]);
  assert.ok(existsSync(cache.document(HASH)));
  cache.prune([]);
  assert.ok(!existsSync(cache.document(HASH)));
  assert.ok(existsSync(cache.document(sha256(replacement))));
});

test("a compressed document is stored decompressed", async () => {
  const compressed = gzipSync(DOCUMENT);
  await withServer([complete({}, compressed)], async (address) => {
    assert.equal(await download(`${address}.gz`, newCache()), HASH);
  });
});

test("damaged records are ignored", async () => {
  const cache = newCache();
  writeFileSync(join(folders.at(-1), "records.json"), "{");
  assert.equal(new Cache(folders.at(-1)).record("https://a"), undefined);
  assert.equal(cache.record("https://a"), undefined);
});

test("package addresses are parsed into registry, package, version and path", () => {
  const expected = { registry: "npm", name: "@a/b", version: "1.0.0", path: "c/d.json" };
  assert.deepEqual(parse("npm:@a/b@1.0.0/c/d.json"), expected);
  assert.deepEqual(parse("pypi:a-b@2/c"), { registry: "pypi", name: "a-b", version: "2", path: "c" });
  assert.equal(parse("https://a@b/c"), undefined);
});

test("a document of an installed package is copied, and a missing path is reported", async () => {
  const { version } = JSON.parse(readFileSync("node_modules/preact/package.json", "utf8"));
  const cache = newCache();
  const expected = ["package.json", "none.json"].map((path) => `npm:preact@${version}/${path}`);
  const results = new Map();
  const report = async (address, get) => results.set(address, await get().catch((error) => error.message));
  // The version is installed, so neither file is requested from a registry.
  const [job] = packageJobs([expected[0]], cache, {});
  await job(report);
  assert.equal(results.get(expected[0]), sha256(readFileSync("node_modules/preact/package.json")));
});

/** Creates a tar archive of entries: [name, content, kind]. */
function tar(entries) {
  const block = (bytes) => Buffer.concat([bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)]);
  const blocks = entries.map(([name, content, kind = "0"]) => {
    const header = Buffer.alloc(512);
    header.write(name, 0);
    header.write(content.length.toString(8).padStart(11, "0"), 124);
    header.write(kind, 156);
    header.write("ustar", 257);
    return Buffer.concat([header, block(Buffer.from(content))]);
  });
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

test("regular files are extracted from a tar archive, links are not", () => {
  const long = `package/${"l".repeat(120)}`;
  const archive = tar([
    ["package/a", "A"],
    ["package/b", "/etc/passwd", "2"],
    ["other/c", "C"],
    ["PaxHeader", `${String(long.length + 10)} path=${long}\n`, "x"],
    ["package/short", "L"],
  ]);
  const files = tarFiles(archive, new Set(["a", "b", "c", "l".repeat(120)]), "package/");
  assert.deepEqual(
    [...files].map(([path, bytes]) => [path, bytes.toString()]),
    [
      ["a", "A"],
      ["l".repeat(120), "L"],
    ],
  );
  assert.throws(
    () => tarFiles(tar([["package/a", "A".repeat(600)]]).subarray(0, 700), new Set(["a"]), ""),
    /truncated/,
  );
});

/** Creates a zip archive of entries: [name, content]. */
function zip(entries) {
  let at = 0;
  const directory = [];
  const local = entries.map(([name, content]) => {
    const compressed = deflateRawSync(content);
    const head = Buffer.alloc(30);
    head.writeUInt32LE(0x04034b50, 0);
    head.writeUInt16LE(name.length, 26);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(8, 10);
    entry.writeUInt32LE(compressed.length, 20);
    entry.writeUInt32LE(content.length, 24);
    entry.writeUInt16LE(name.length, 28);
    entry.writeUInt32LE(at, 42);
    directory.push(entry, Buffer.from(name));
    const bytes = Buffer.concat([head, Buffer.from(name), compressed]);
    at += bytes.length;
    return bytes;
  });
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...local, ...directory, end]);
}

test("wanted files are extracted from a zip archive, unless they are too large", () => {
  const archive = zip([
    ["a/b.json", "{}"],
    ["c", "C".repeat(100)],
  ]);
  const files = zipFiles(archive, new Set(["a/b.json"]), 50);
  assert.deepEqual(
    [...files].map(([path, bytes]) => [path, bytes.toString()]),
    [["a/b.json", "{}"]],
  );
  assert.throws(() => zipFiles(archive, new Set(["c"]), 50), /larger than/);
  assert.throws(() => zipFiles(Buffer.from("no"), new Set(), 50), /damaged/);
});
