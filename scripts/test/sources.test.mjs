// Downloads of documents: what a server, a registry and the network may do on the way.
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
import { packages, parse } from "../sources/packages.mjs";

const folders = [];
const newCache = () => {
  folders.push(mkdtempSync(join(tmpdir(), "connector-vault-sources-")));
  return new Cache(folders.at(-1));
};
after(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })));

const DOCUMENT = Buffer.from(JSON.stringify({ openapi: "3.0.0", info: { title: "T", version: "1" }, paths: {} }));
const HASH = sha256(DOCUMENT);
/** Fast enough for a test: nothing waits for a fixed time. */
const LIMITS = { pauseMs: 0 };

/** Serves answers, one for each request, and keeps the requests' headers. */
async function serving(answers, body) {
  const requests = [];
  const rest = [...answers];
  const server = createServer((request, response) => {
    requests.push(request.headers);
    rest.shift()(response, request);
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const address = `http://127.0.0.1:${server.address().port}/openapi.json`;
  try {
    await body(address, requests, server);
    assert.equal(rest.length, 0, "requests that did not come");
  } finally {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  }
}

const whole =
  (headers = {}, bytes = DOCUMENT) =>
  (response) =>
    response.writeHead(200, { "content-length": bytes.length, ...headers }).end(bytes);
/** Sends so many bytes of the document, then breaks the connection. */
const broken =
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

test("a document is kept by its content, and asked for with its ETag the next time", async () => {
  const cache = newCache();
  await serving([whole({ etag: '"1"' }), status(304)], async (address, requests) => {
    assert.equal(await download(address, cache), HASH);
    assert.deepEqual(readFileSync(cache.document(HASH)), DOCUMENT);
    assert.equal(await download(address, cache), HASH);
    assert.deepEqual(
      requests.map((headers) => headers["if-none-match"]),
      [undefined, '"1"'],
    );
  });
});

test("a document without an ETag is asked for with the time of its last change", async () => {
  const time = "Thu, 26 Nov 2026 08:00:00 GMT";
  const cache = newCache();
  await serving([whole({ "last-modified": time }), status(304)], async (address, requests) => {
    await download(address, cache);
    assert.equal(await download(address, cache), HASH);
    assert.equal(requests[1]["if-modified-since"], time);
  });
});

test("what is known of a document that is gone from the cache is not used", async () => {
  const cache = newCache();
  await serving([whole({ etag: '"1"' }), whole({ etag: '"1"' })], async (address, requests) => {
    await download(address, cache);
    rmSync(cache.document(HASH));
    assert.equal(await download(address, cache), HASH);
    assert.equal(requests[1]["if-none-match"], undefined);
  });
});

test("an interrupted download goes on where it ended", async () => {
  const cache = newCache();
  await serving([broken(20, { etag: '"1"' }), rest(20, { etag: '"1"' })], async (address, requests) => {
    assert.equal(await download(address, cache, LIMITS), HASH);
    assert.equal(requests[1].range, "bytes=20-");
    assert.equal(requests[1]["if-range"], '"1"');
    assert.ok(!existsSync(cache.partial(address).file));
  });
});

test("a later run goes on, too", async () => {
  const cache = newCache();
  await serving([broken(20, { etag: '"1"' }), rest(20, { etag: '"1"' })], async (address, requests) => {
    await assert.rejects(download(address, cache, { ...LIMITS, attempts: 1 }));
    assert.equal(await download(address, cache, LIMITS), HASH);
    assert.equal(requests[1].range, "bytes=20-");
  });
});

test("a document that changed in between is downloaded from its beginning", async () => {
  const cache = newCache();
  await serving([broken(20, { etag: '"0"' }), whole({ etag: '"1"' })], async (address) => {
    assert.equal(await download(address, cache, LIMITS), HASH);
  });
});

test("without a strong ETag or a time, nothing is resumed", async () => {
  const cache = newCache();
  await serving([broken(20, { etag: 'W/"0"' }), whole()], async (address, requests) => {
    assert.equal(await download(address, cache, LIMITS), HASH);
    assert.equal(requests[1].range, undefined);
  });
});

test("a server that can't go on, or goes on elsewhere, is asked from the beginning", async () => {
  for (const answer of [status(416), rest(10)]) {
    const cache = newCache();
    await serving([broken(20, { etag: '"1"' }), answer, whole()], async (address, requests) => {
      assert.equal(await download(address, cache, LIMITS), HASH);
      assert.equal(requests[2].range, undefined);
    });
  }
});

test("a truncated document is never kept", async () => {
  const cache = newCache();
  await serving([broken(20), broken(20), broken(20)], async (address) => {
    await assert.rejects(download(address, cache, LIMITS), /could not be reached|ended after/);
  });
  assert.deepEqual(readdirSync(join(folders.at(-1), "documents")), []);
});

test("a server that falls silent is given up, and what came is kept for the next run", async () => {
  const cache = newCache();
  const silent = (response) => {
    response.writeHead(200, { "content-length": DOCUMENT.length, etag: '"1"' });
    response.write(DOCUMENT.subarray(0, 20));
  };
  await serving([silent, rest(20)], async (address) => {
    await assert.rejects(download(address, cache, { silentMs: 100, attempts: 1 }), /said nothing/);
    assert.equal(await download(address, cache), HASH);
  });
});

test("a download ends when there is no time left", async () => {
  const cache = newCache();
  const ends = new AbortController();
  const silent = () => ends.abort();
  await serving([silent], async (address) => {
    await assert.rejects(download(address, cache, { ...LIMITS, signal: ends.signal }), /no time left/);
  });
});

test("a document that is too large is refused, stated or not", async () => {
  const chunked = (response) => response.writeHead(200).end(DOCUMENT);
  for (const answer of [whole(), chunked]) {
    await serving([answer], async (address) => {
      await assert.rejects(download(address, newCache(), { maxBytes: 20 }), /larger than/);
    });
  }
});

test("a passing failure is tried again, a final one is not", async () => {
  await serving([status(503), status(429), whole()], async (address) => {
    assert.equal(await download(address, newCache(), LIMITS), HASH);
  });
  await serving([status(404)], async (address) => {
    await assert.rejects(download(address, newCache(), LIMITS), /answered 404/);
  });
  await serving([status(500), status(500), status(500)], async (address) => {
    await assert.rejects(download(address, newCache(), LIMITS), /answered 500/);
  });
});

test("without a network, the reason is told", async () => {
  let closed;
  await serving([], async (address) => {
    closed = address;
  });
  await assert.rejects(download(closed, newCache(), LIMITS), /could not be reached: ECONNREFUSED/);
});

test("redirects are followed to safe addresses only", async () => {
  const to = (location) => (response) => response.writeHead(302, { location }).end();
  await serving([to("/elsewhere"), whole()], async (address) => {
    assert.equal(await download(address, newCache(), LIMITS), HASH);
  });
  await serving([to("http://example.com/")], async (address) => {
    await assert.rejects(
      download(address, newCache(), LIMITS),
      /redirects to http:\/\/example.com, which is not https/,
    );
  });
  await serving(Array(6).fill(to("/again")), async (address) => {
    await assert.rejects(download(address, newCache(), LIMITS), /more than 5 times/);
  });
});

test("another document at an address is kept beside the first, until that is not kept any more", async () => {
  const other = Buffer.from("openapi: 3.1.0");
  const cache = newCache();
  await serving([whole({ etag: '"1"' }), whole({ etag: '"2"' }, other)], async (address) => {
    await download(address, cache);
    assert.equal(await download(address, cache), sha256(other));
  });
  cache.prune([HASH]);
  assert.ok(existsSync(cache.document(HASH)));
  cache.prune([]);
  assert.ok(!existsSync(cache.document(HASH)));
  assert.ok(existsSync(cache.document(sha256(other))));
});

test("a compressed document is kept as what it is", async () => {
  const packed = gzipSync(DOCUMENT);
  await serving([whole({}, packed)], async (address) => {
    assert.equal(await download(`${address}.gz`, newCache()), HASH);
  });
});

test("damaged records count as none", async () => {
  const cache = newCache();
  writeFileSync(join(folders.at(-1), "records.json"), "{");
  assert.equal(new Cache(folders.at(-1)).record("https://a"), undefined);
  assert.equal(cache.record("https://a"), undefined);
});

test("addresses of packages name the registry, the package, its version and a path", () => {
  const wanted = { registry: "npm", name: "@a/b", version: "1.0.0", path: "c/d.json" };
  assert.deepEqual(parse("npm:@a/b@1.0.0/c/d.json"), wanted);
  assert.deepEqual(parse("pypi:a-b@2/c"), { registry: "pypi", name: "a-b", version: "2", path: "c" });
  assert.equal(parse("https://a@b/c"), undefined);
});

test("a document of an installed package is copied, and a path that it lacks is told", async () => {
  const { version } = JSON.parse(readFileSync("node_modules/preact/package.json", "utf8"));
  const cache = newCache();
  const wanted = ["package.json", "none.json"].map((path) => `npm:preact@${version}/${path}`);
  const answers = new Map();
  const answer = async (address, get) => answers.set(address, await get().catch((error) => error.message));
  // The version is the installed one, so that no registry is asked for the first; the second must not be asked for either.
  const [job] = packages([wanted[0]], cache, {});
  await job(answer);
  assert.equal(answers.get(wanted[0]), sha256(readFileSync("node_modules/preact/package.json")));
});

/** A tar archive of these entries: [name, content, kind]. */
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

test("plain files are read out of a tar archive, and links are not", () => {
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

/** A zip archive of these entries: [name, content]. */
function zip(entries) {
  let at = 0;
  const directory = [];
  const local = entries.map(([name, content]) => {
    const packed = deflateRawSync(content);
    const head = Buffer.alloc(30);
    head.writeUInt32LE(0x04034b50, 0);
    head.writeUInt16LE(name.length, 26);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(8, 10);
    entry.writeUInt32LE(packed.length, 20);
    entry.writeUInt32LE(content.length, 24);
    entry.writeUInt16LE(name.length, 28);
    entry.writeUInt32LE(at, 42);
    directory.push(entry, Buffer.from(name));
    const bytes = Buffer.concat([head, Buffer.from(name), packed]);
    at += bytes.length;
    return bytes;
  });
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...local, ...directory, end]);
}

test("wanted files are read out of a zip archive, if they are not too large", () => {
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
