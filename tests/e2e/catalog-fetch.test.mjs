// `catalog fetch` downloads the documents of sources.toml from a server that changes, fails and disappears.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { buildNativeCli, program } from "../../scripts/lib/native-cli.mjs";
import { root } from "../../scripts/lib/paths.mjs";
import { environment } from "../../scripts/lib/run.mjs";
import { folder, wranglerEnvironment } from "./support/workspace.mjs";

/** Runs `catalog …` while the server keeps running: { status, output }. */
function catalog(...args) {
  const child = spawn(program, ["catalog", ...args], { cwd: root, env: environment(wranglerEnvironment) });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (status) => resolve({ status, output }));
  });
}

function document(paths, { server = "api.acme.example", token = "auth.acme.example" } = {}) {
  const flow = { authorizationUrl: `https://${token}/authorize`, tokenUrl: `https://${token}/token`, scopes: {} };
  const operation = { get: { responses: { 200: { description: "Done." } } } };
  return JSON.stringify({
    openapi: "3.1.0",
    info: { title: "Acme", version: "1" },
    servers: [{ url: `https://${server}` }],
    paths: Object.fromEntries(paths.map((path) => [path, operation])),
    components: { securitySchemes: { oauth: { type: "oauth2", flows: { authorizationCode: flow } } } },
    security: [{ oauth: [] }],
  });
}

describe("catalog fetch", { timeout: 300_000 }, () => {
  const place = join(folder, "fetched");
  const list = join(place, "sources.toml");
  const cache = join(place, "cache");
  const out = join(place, "catalog");
  /** The content of the server by path: a string, or a function of the request and the response. */
  const served = new Map();
  const requests = [];
  const server = createServer((request, response) => {
    requests.push(request);
    const content = served.get(request.url);
    if (typeof content === "function") return content(request, response);
    if (content === undefined) return response.writeHead(404).end();
    const etag = `"${content.length}-${content.includes("evil")}"`;
    if (request.headers["if-none-match"] === etag) return response.writeHead(304).end();
    response.writeHead(200, { etag, "content-length": Buffer.byteLength(content) }).end(content);
  });
  const fetch = (...args) => catalog("fetch", ...args, "--list", list, "--cache", cache);
  const startImport = (...sources) =>
    catalog(
      "import",
      ...sources,
      ...["--licence", "any", "--no-providers", "--config", "/dev/null", "--out", out],
      ...["--fetched", cache, "--list", list],
    );
  let origin;

  before(async () => {
    await buildNativeCli();
    await new Promise((done) => server.listen(0, "127.0.0.1", done));
    origin = `http://127.0.0.1:${server.address().port}`;
    mkdirSync(place, { recursive: true });
    const table = (name) =>
      `[platforms.${name}]\naddress = "${origin}/${name}.json"\nformat = "openapi"\nlicence = { name = "MIT", source = "https://acme.example" }\n`;
    writeFileSync(list, ["acme", "beta", "gamma", "delta", "omega"].map(table).join("\n"));
    for (const name of ["acme", "beta", "gamma", "delta", "omega"])
      served.set(`/${name}.json`, document(["/a", "/b"], { server: `${name}.example` }));
  });
  after(() => server.close());

  test("a new document is reported with its hosts, and missing until it is accepted", async () => {
    const first = await fetch("acme");
    assert.equal(first.status, 1, first.output);
    assert.match(first.output, /a new document at .*\/acme\.json; it is missing/);
    assert.match(first.output, /acme: 2 operations/);
    assert.match(first.output, /host \+ acme\.example/);
    assert.match(first.output, /host \+ auth\.acme\.example/);
    assert.match(first.output, /fetch --accept acme --accept-hosts acme/);
    assert.doesNotMatch(readFileSync(list, "utf8"), /sha256/);

    const accepted = await fetch("--accept", "acme", "--accept-hosts", "acme");
    assert.equal(accepted.status, 0, accepted.output);
    assert.match(readFileSync(list, "utf8"), /operations = 2\nhosts = \["acme.example", "auth.acme.example"\]\n/);
  });

  test("an unchanged document is not downloaded again", async () => {
    const seen = requests.length;
    const result = await fetch("acme");
    assert.equal(result.status, 0, result.output);
    assert.match(result.output, /1 document ready/);
    assert.equal(requests.length, seen + 1);
    assert.ok(requests.at(-1).headers["if-none-match"]);
  });

  test("a changed document is reported, and the accepted one is used", async () => {
    served.set("/acme.json", document(["/a", "/c", "/d"], { server: "acme.example" }));
    const changed = await fetch("acme");
    assert.equal(changed.status, 0, changed.output);
    assert.match(changed.output, /another document at .*; the one in the cache is used/);
    assert.match(changed.output, /operations: 1 unchanged, 2 added, 1 removed/);
    assert.match(changed.output, /\+ GET \/c/);
    assert.match(changed.output, /- GET \/b/);
    assert.doesNotMatch(changed.output, /accept-hosts/);
    const imported = await startImport(join(root, "tests/fixtures/openapi/good/acme-3.0.json"));
    assert.equal(imported.status, 0, imported.output);
    assert.match((await catalog("show", "acme", "getB", "--catalog", out)).output, /"path": ?"\/b"/);
  });

  test("accepting uses the reported document, even if the server has another one by then", async () => {
    served.set("/acme.json", document(["/x"], { server: "evil.example" }));
    const accepted = await fetch("--accept", "acme");
    assert.equal(accepted.status, 0, accepted.output);
    assert.match(accepted.output, /accepted for acme: 3 operations/);
    assert.match(readFileSync(list, "utf8"), /operations = 3\n/);
  });

  test("new hosts need separate consent", async () => {
    const changed = await fetch("acme");
    assert.match(changed.output, /host \+ evil\.example/);
    assert.match(changed.output, /host - acme\.example/);
    assert.match(changed.output, /--accept acme --accept-hosts acme/);
    const refused = await fetch("--accept", "acme");
    assert.equal(refused.status, 1, refused.output);
    assert.match(refused.output, /add --accept-hosts acme/);
    assert.match(readFileSync(list, "utf8"), /operations = 3\n/);
  });

  test("an interrupted download is resumed, and a missing document is reported", async () => {
    const complete = document(["/a", "/b"], { server: "beta.example" });
    served.set("/beta.json", (request, response) => {
      const from = Number(/bytes=(\d+)-/.exec(request.headers.range ?? "")?.[1] ?? 0);
      const headers = { etag: '"beta"', "content-length": complete.length - from };
      if (from > 0) {
        headers["content-range"] = `bytes ${from}-${complete.length - 1}/${complete.length}`;
        return response.writeHead(206, headers).end(complete.slice(from));
      }
      response.writeHead(200, headers);
      response.write(complete.slice(0, 50), () => setImmediate(() => response.destroy()));
    });
    served.delete("/gamma.json");
    const results = await fetch("beta", "gamma", "delta", "omega");
    assert.equal(results.status, 1, results.output);
    assert.match(results.output, /`beta`: a new document/);
    assert.match(results.output, /`gamma`: .*: the server responded with 404; it is missing/);
    assert.match(results.output, /4 missing/);
    const names = ["beta", "delta", "omega"];
    const accepted = await fetch(...names.flatMap((name) => ["--accept", name, "--accept-hosts", name]));
    assert.equal(accepted.status, 0, accepted.output);
  });

  test("an invalid document can't be accepted", async () => {
    served.set("/gamma.json", "<html>Sign in</html>");
    const invalid = await fetch("gamma");
    assert.match(invalid.output, /which cannot be used/);
    const refused = await fetch("--accept", "gamma", "--accept-hosts", "gamma");
    assert.equal(refused.status, 1, refused.output);
    assert.match(refused.output, /which cannot be used/);
  });

  test("without the server, the cache is used, and missing documents are listed", async () => {
    await new Promise((done) => {
      server.close(done);
      server.closeAllConnections();
    });
    const offline = await fetch();
    assert.equal(offline.status, 1, offline.output);
    assert.match(offline.output, /4 documents ready, 4 of them from the cache alone/);
    assert.match(offline.output, /1 missing: `gamma`/);
    assert.match(offline.output, /could not be reached: ECONNREFUSED/);
    const imported = await startImport(join(root, "tests/fixtures/openapi/good/acme-3.0.json"));
    assert.match(imported.output, /have not been downloaded: gamma/);
    assert.match((await catalog("show", "beta", "--catalog", out)).output, /getB/);
  });

  test("a download beyond the time limit continues in the next run", async () => {
    const slow = createServer((_, response) => {
      response.writeHead(200, { etag: '"1"' });
      response.write("{");
    });
    await new Promise((done) => slow.listen(0, "127.0.0.1", done));
    const other = join(place, "slow.toml");
    writeFileSync(
      other,
      `[platforms.slow]\naddress = "http://127.0.0.1:${slow.address().port}/a.json"\nformat = "openapi"\nlicence = { name = "MIT", source = "https://a.example" }\n`,
    );
    const done = await catalog("fetch", "--within", "1", "--list", other, "--cache", join(place, "slow-cache"));
    slow.closeAllConnections();
    slow.close();
    assert.equal(done.status, 1, done.output);
    assert.match(done.output, /there was no time left; it is missing/);
  });
});
