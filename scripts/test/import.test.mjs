// `npm run import` against a stand-in for the service, which records the requests. `tests/e2e/import.test.mjs` runs it
// against the service itself.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { COMPOSIO, NANGO } from "../import/platforms.mjs";
import { root } from "../lib/paths.mjs";

const folder = mkdtempSync(join(tmpdir(), "connector-vault-import-"));
/** The string that every secret in these files contains. */
const SECRET = "s3cr3t";

const method = (id, type, more = {}) => ({ id, type, fields: [], ...more });
const CONNECTORS = {
  gmail: [method("oauth2", "oauth2", { grant: "authorization_code" })],
  shopify: [method("oauth2", "oauth2", { grant: "authorization_code", fields: [{ name: "shop" }] })],
  stripe: [method("key", "bearer"), method("app", "oauth2", { grant: "client_credentials" })],
  zendesk: [
    method("token", "api_key", { fields: [{ name: "apiKey" }, { name: "subDomain" }] }),
    method("basic", "basic"),
  ],
  two: [method("a", "oauth2"), method("b", "oauth2")],
};

/** @type {import("node:http").Server} */
let server;
let address;
/** The bodies of imports, and the connections by key. */
let bodies = [];
const storedIds = new Map();
/** The OAuth clients by platform; undefined if the key must not read them. */
let clients;
/** Functions that respond to the next imports with a failure, one for each request. */
let nextFailures = [];

function results({ connections }) {
  return connections.map(({ platform, label, identity }) => {
    const key = `${platform} ${label} ${identity}`;
    const outcome = storedIds.has(key) ? "unchanged" : "created";
    storedIds.set(key, `id-${storedIds.size}`);
    return { outcome, connectionId: storedIds.get(key) };
  });
}

before(async () => {
  server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const send = (status, json, headers = {}) => {
      response.writeHead(status, { "content-type": "application/json", ...headers });
      response.end(typeof json === "string" ? json : JSON.stringify(json));
    };
    assert.equal(request.headers["x-service-secret"], "the key");
    const sendFailure = request.method === "POST" ? nextFailures.shift() : undefined;
    if (sendFailure) return sendFailure(send, request);
    const [path] = request.url.split("?");
    const platform = path.split("/").pop();
    if (path.startsWith("/v1/oauth-clients/")) {
      const client = clients?.[platform];
      if (clients === undefined) return send(403, { code: "insufficient_scope", detail: "The key lacks a scope." });
      return client ? send(200, client) : send(404, { code: "oauth_client_not_found", detail: "There is none." });
    }
    if (request.method === "POST") {
      const body = Buffer.concat(chunks);
      assert.ok(body.length <= 1 << 20, `${body.length} bytes`);
      bodies.push(JSON.parse(body.toString()));
      return send(200, { results: results(bodies.at(-1)) });
    }
    if (CONNECTORS[platform]) return send(200, { platform, authMethods: CONNECTORS[platform] });
    return send(404, { code: "platform_not_found", detail: "The catalog has no such platform." });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  address = `http://127.0.0.1:${server.address().port}`;
});

after(() => {
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

function file(name, content) {
  const path = join(folder, name);
  writeFileSync(path, typeof content === "string" || Buffer.isBuffer(content) ? content : JSON.stringify(content));
  return path;
}

/** Runs the command. No output may contain a secret of a file. */
async function run(args, { env = {}, input = "" } = {}) {
  bodies = [];
  const child = spawn(process.execPath, [join(root, "scripts", "import.mjs"), ...args], {
    env: { ...process.env, VAULT_URL: address, VAULT_KEY: "the key", NO_COLOR: "1", ...env },
  });
  const output = { out: "", err: "" };
  child.stdout.on("data", (chunk) => (output.out += chunk));
  child.stderr.on("data", (chunk) => (output.err += chunk));
  child.stdin.end(input);
  const [code] = await once(child, "close");
  assert.ok(!`${output.out}${output.err}`.includes(SECRET), `a secret is printed: ${output.out}${output.err}`);
  const lines = output.out.split("\n").filter(Boolean);
  return { code, lines, ...output, sent: bodies.flatMap(({ connections }) => connections) };
}

const nango = (id, more = {}) => ({
  id: 1,
  connection_id: id,
  provider_config_key: "google-mail",
  provider: "google-mail",
  created_at: "2026-01-01T00:00:00.000Z",
  metadata: null,
  connection_config: {},
  end_user: null,
  credentials: {
    type: "OAUTH2",
    access_token: `${SECRET}-at`,
    refresh_token: `${SECRET}-rt`,
    expires_at: "2027-01-15T09:00:00.000Z",
    raw: { scope: "a b" },
  },
  ...more,
});

test("the platforms of both tables are in the list of providers", () => {
  const providers = readFileSync(join(root, "providers.toml"), "utf8");
  for (const platform of Object.values({ ...NANGO, ...COMPOSIO })) {
    assert.ok(providers.includes(`\n[platforms.${platform}]\n`), platform);
  }
});

test("Nango's connections keep their tokens, scopes, expiry, client and user", async () => {
  const user = { id: "ann", display_name: "Ann", email: "ann@example.com", organization: null };
  const credentials = { ...nango("x").credentials, config_override: { client_id: "own client" } };
  const path = file("nango.json", { connections: [nango("c-1", { end_user: user, credentials }), nango("c-2")] });
  const { code, lines, sent } = await run(["nango", path]);
  assert.equal(code, 0);
  const tokens = { accessToken: `${SECRET}-at`, refreshToken: `${SECRET}-rt`, expiresAt: "2027-01-15T09:00:00.000Z" };
  const ann = {
    platform: "gmail",
    identity: "ann",
    identityType: "user",
    label: "default",
    name: "Ann",
    clientId: "own client",
    credentials: { type: "oauth2", authMethod: "oauth2", ...tokens, scopes: ["a", "b"] },
  };
  const { name: _, clientId: __, ...rest } = ann;
  assert.deepEqual(sent, [ann, { ...rest, identity: "c-2" }]);
  assert.equal(bodies[0].cutOver, false);
  assert.deepEqual(
    lines.map((line) => line.split(/ {2,}/).slice(0, 4)),
    [
      ["created", "item 1", "gmail", "ann"],
      ["created", "item 2", "gmail", "c-2"],
    ],
  );
  const secondRun = await run(["nango", path, "--cut-over"]);
  assert.deepEqual([secondRun.code, bodies[0].cutOver], [0, true]);
  assert.ok(secondRun.lines.every((line) => line.startsWith("unchanged")));
});

test("Nango's tags become tags; what a connection can't have is reported", async () => {
  const tags = { end_user_id: "ann", end_user_display_name: "Ann", plan: "pro", list: "a,b", long: "x".repeat(128) };
  const rows = [
    nango("c-1", { tags, metadata: { team: SECRET } }),
    nango("c-2", { end_user: { id: "bob", organization: { id: "org-1" } }, metadata: {} }),
    nango("c-3", { end_user: { id: "c", organization: { id: "org-1" } }, tags: { organization_id: "org-2" } }),
  ];
  const { sent, err, code } = await run(["nango", file("tags.json", rows)]);
  assert.equal(code, 0);
  assert.deepEqual(
    sent.map(({ identity, name, tags }) => [identity, name, tags]),
    [
      ["ann", "Ann", ["plan:pro"]],
      ["bob", undefined, ["organization_id:org-1"]],
      ["c", undefined, ["organization_id:org-2"]],
    ],
  );
  assert.match(err, /Left out.*: metadata \(1 rows\), tags \(1 rows\)\. See docs\/moving\.md/);
});

test("a username and password can hold a key", async () => {
  const basic = (id, username, password, provider = "stripe") =>
    nango(id, { provider, provider_config_key: provider, credentials: { type: "BASIC", username, password } });
  const rows = [
    basic("a", `${SECRET}-k`, ""),
    basic("b", "u", `${SECRET}-p`),
    basic("z", `${SECRET}-u`, "", "zendesk"),
  ];
  const path = file("basic.json", rows);
  const { sent, lines } = await run(["nango", path]);
  assert.deepEqual(
    sent.map(({ credentials }) => credentials),
    [
      { type: "bearer", authMethod: "key", token: `${SECRET}-k` },
      { type: "basic", authMethod: "basic", username: `${SECRET}-u`, password: "" },
    ],
  );
  const reason = lines.find((line) => line.startsWith("failed"));
  assert.match(reason, /a username and password, which `stripe` does not take; its methods: `key` \(bearer\), `app`/);
  assert.match(reason, /--map/);
  const map = file("basic-map.json", { stripe: { platform: "stripe", fields: { token: "password" } } });
  const mapped = await run(["nango", path, "--map", map]);
  assert.equal(mapped.sent.find(({ identity }) => identity === "b").credentials.token, `${SECRET}-p`);
});

test("a dry run checks OAuth clients if the key may read them", async () => {
  const stripe = nango("k", { provider: "stripe", provider_config_key: "stripe" });
  stripe.credentials = { type: "API_KEY", apiKey: `${SECRET}-k` };
  const shop = nango("s", { provider: "shopify", provider_config_key: "shopify" });
  const other = nango("o");
  other.credentials.config_override = { client_id: "other" };
  const path = file("clients.json", [nango("g"), other, shop, stripe]);
  const unchecked = await run(["nango", path, "--dry-run"]);
  assert.deepEqual([unchecked.code, unchecked.sent.length], [0, 0]);
  assert.match(unchecked.err, /Not checked: .* OAuth clients of gmail, shopify\./);
  clients = { gmail: { clientId: "own" } };
  const { code, lines, err } = await run(["nango", path, "--dry-run"]);
  clients = undefined;
  assert.equal(code, 1);
  assert.deepEqual(
    lines.map((line) => line.split(" ")[0]),
    ["valid", "failed", "failed", "valid"],
  );
  assert.match(lines[1], /another OAuth client/);
  assert.match(lines[2], /has no OAuth client/);
  assert.doesNotMatch(err, /Not checked/);
});

test("a Nango file can be a response, a list of rows, or a row on each line", async () => {
  const [one, two] = [nango("c-1"), nango("c-2")];
  const dashboard = {
    data: { connection: { ...one, provider: undefined }, provider: "google-mail", endUser: { id: "ann" } },
  };
  for (const [content, identities] of [
    [one, ["c-1"]],
    [
      [one, two],
      ["c-1", "c-2"],
    ],
    [{ data: [one] }, ["c-1"]],
    [dashboard, ["ann"]],
    [`${JSON.stringify(one)}\n\n${JSON.stringify(two)}\r\n`, ["c-1", "c-2"]],
    [`\ufeff${JSON.stringify(one)}`, ["c-1"]],
    ["[]", []],
  ]) {
    const { sent, code, err } = await run(["nango", file("shape.json", content)]);
    assert.deepEqual([sent.map(({ identity }) => identity), code], [identities, 0], err);
  }
  const { sent } = await run(["nango", "-"], { input: JSON.stringify([one]) });
  assert.equal(sent.length, 1);
});

test("rows that can't be imported are reported with a reason, and the others are imported", async () => {
  const key = (provider, more = {}) =>
    nango(provider, {
      provider,
      provider_config_key: provider,
      credentials: { type: "API_KEY", apiKey: `${SECRET}-k` },
      ...more,
    });
  const rows = [
    [null, /^failed .*is not an object/],
    [7, /^failed .*is not an object/],
    [{}, /^failed .*no `connection_id`/],
    [nango("a", { credentials: {} }), /^failed .*no credentials/],
    [nango("b", { credentials: "x" }), /^failed .*no credentials/],
    [nango("c", { credentials: { encrypted_credentials: SECRET } }), /^failed .*encrypted/],
    [nango("d", { credentials: { type: "NONE" } }), /^skipped /],
    [nango("e", { credentials: { type: "OAUTH1", oauth_token: SECRET } }), /^failed .*of a type/],
    [nango("f", { credentials: { type: "OAUTH2_CC", client_secret: SECRET } }), /^failed .*client credentials/],
    [nango("g", { deleted: true }), /^skipped .*deleted/],
    [key("unknown"), /^failed .*not in the catalog/],
    [key("__proto__"), /^failed .*not in the catalog/],
    [key("google-mail"), /^failed .*does not take/],
    [nango("h", { provider: "two", provider_config_key: "two" }), /^failed .*several methods/],
    [nango("i", { end_user: { id: "x".repeat(2 << 20) } }), /^failed .*larger than 1 MiB/],
    [key("stripe"), /^created /],
    [nango("good"), /^created /],
    [nango("good", { id: 2 }), /^failed .*of item 17/],
  ];
  const { code, lines, sent } = await run([
    "nango",
    file(
      "rows.json",
      rows.map(([row]) => row),
    ),
  ]);
  assert.equal(code, 1);
  const byItem = (line) => Number(/item (\d+)/.exec(line)[1]);
  const sortedLines = lines.toSorted((left, right) => byItem(left) - byItem(right));
  for (const [index, [, expected]] of rows.entries()) assert.match(sortedLines[index], expected);
  assert.deepEqual(
    sent.map(({ platform, credentials }) => [platform, credentials.type]),
    [
      ["stripe", "bearer"],
      ["gmail", "oauth2"],
    ],
  );
});

test("fields come from the connection's configuration, and platforms from --map", async () => {
  const shop = nango("s", {
    provider: "shopify",
    provider_config_key: "my-shop",
    connection_config: { subdomain: "acme", x: "y" },
  });
  const map = file("map.json", {
    "my-shop": { platform: "shopify", fields: { shop: "subdomain" } },
    two: { platform: "two", authMethod: "b" },
  });
  const desk = nango("z", {
    provider: "zendesk",
    provider_config_key: "zendesk",
    connection_config: { sub_domain: "acme" },
  });
  desk.credentials = { type: "API_KEY", apiKey: "k" };
  const other = nango("t", { provider: "two", provider_config_key: "two" });
  const { sent, code } = await run([
    "nango",
    file("fields.json", [shop, desk, other]),
    "--map",
    map,
    "--label",
    "integration",
  ]);
  assert.equal(code, 0);
  assert.deepEqual(
    sent.map(({ platform, label, credentials }) => [platform, label, credentials.authMethod, credentials.fields]),
    [
      ["shopify", "my-shop", "oauth2", { shop: "acme" }],
      ["zendesk", "zendesk", "token", { subDomain: "acme" }],
      ["two", "two", "b", undefined],
    ],
  );
  for (const content of ["{", "[]", '{"a":7}', '{"a":{"authMethod":"x"}}', '{"a":{"platform":"x","secret":"y"}}'])
    assert.equal((await run(["nango", "-", "--map", file("bad.json", content)])).code, 2, content);
});

test("Composio's accounts move unless they are redacted or inactive", async () => {
  const account = (more = {}, val = {}) => ({
    id: "ca_1",
    user_id: "ann",
    toolkit: { slug: "gmail" },
    auth_config: { id: "ac_1", auth_scheme: "OAUTH2", is_composio_managed: false },
    status: "ACTIVE",
    updated_at: "2027-01-15T08:00:00Z",
    state: {
      authScheme: "OAUTH2",
      val: {
        access_token: `${SECRET}-at`,
        refresh_token: `${SECRET}-rt`,
        expires_in: 3600,
        scope: "a,b",
        shop: "acme",
        ...val,
      },
    },
    ...more,
  });
  const scheme = (authScheme, val) => ({ state: { authScheme, val: { status: "ACTIVE", ...val } } });
  const items = [
    account(),
    account({ user_id: "bob", toolkit: { slug: "shopify" } }),
    account({ user_id: "c", status: "EXPIRED" }),
    account({ user_id: "d" }, { access_token: "REDACTED" }),
    account({ user_id: "e", auth_config: { is_composio_managed: true } }, { refresh_token: "abcd..." }),
    account({ user_id: "f", toolkit: { slug: "stripe" }, ...scheme("API_KEY", { generic_api_key: `${SECRET}-k` }) }),
    account({ user_id: "g", toolkit: { slug: "stripe" }, ...scheme("BEARER_TOKEN", { token: `${SECRET}-t` }) }),
    account({ user_id: "h", toolkit: { slug: "zendesk" }, ...scheme("BASIC", { username: "u", password: SECRET }) }),
    account({ user_id: "i", ...scheme("OAUTH1", { oauth_token: SECRET }) }),
  ];
  const { lines, sent, code } = await run(["composio", file("composio.json", { items, next_cursor: null })]);
  assert.equal(code, 1);
  assert.deepEqual(sent[0].credentials, {
    type: "oauth2",
    authMethod: "oauth2",
    accessToken: `${SECRET}-at`,
    refreshToken: `${SECRET}-rt`,
    expiresAt: "2027-01-15T09:00:00.000Z",
    scopes: ["a", "b"],
  });
  assert.deepEqual(sent[1].credentials.fields, { shop: "acme" });
  assert.deepEqual(
    sent.slice(2).map(({ credentials }) => credentials),
    [
      { type: "bearer", authMethod: "key", token: `${SECRET}-k` },
      { type: "bearer", authMethod: "key", token: `${SECRET}-t` },
      { type: "basic", authMethod: "basic", username: "u", password: SECRET },
    ],
  );
  const reasons = lines.filter((line) => !line.startsWith("created")).join("\n");
  for (const expected of [
    /skipped .*not active/,
    /item 4 .*Mask Connected Account Secrets/,
    /item 5 .*Composio's own OAuth app/,
    /item 9 .*of a type/,
  ])
    assert.match(reasons, expected);
});

test("a CSV file may have quotes, line breaks, a byte order mark and formulas", async () => {
  const csv = [
    "platform,identity,identityType,tags,type,accessToken,refreshToken,scopes,password,fields.shop",
    `gmail,"=cmd|' /C calc'!A0",team,"a, b",oauth2,${SECRET}-at,${SECRET}-rt,"a b",,`,
    `shopify,"two\nlines",,,oauth2,"${SECRET},""q""",,,,acme`,
    `gmail,"\u001b[2J\u202e",,,oauth2,${SECRET},,,,`,
    "",
  ].join("\r\n");
  const { sent, lines, code } = await run(["csv", file("a.csv", `\ufeff${csv}`)]);
  assert.equal(code, 0);
  assert.deepEqual(sent[0], {
    platform: "gmail",
    identity: "=cmd|' /C calc'!A0",
    identityType: "team",
    label: "default",
    tags: ["a", "b"],
    credentials: { type: "oauth2", accessToken: `${SECRET}-at`, refreshToken: `${SECRET}-rt`, scopes: ["a", "b"] },
  });
  assert.deepEqual(sent[1].credentials, { type: "oauth2", accessToken: `${SECRET},"q"`, fields: { shop: "acme" } });
  assert.match(lines[1], /two\\u\{a\}lines/);
  assert.match(lines[2], /\\u\{1b\}\[2J\\u\{202e\}/);
});

test("a CSV file in an unknown format is rejected without reading its cells", async () => {
  for (const [content, expected] of [
    ["", /rows: none/],
    [`gmail,ann,${SECRET}\n`, /has no header/],
    ["platform,identity,type,colour\n", /unknown: "colour"/],
    ["platform,identity,type,type\n", /twice: "type"/],
    ["platform,identity\n", /missing: type/],
    [`platform,identity,type\ngmail,ann,oauth2,${SECRET}\n`, /line 2/],
    [`platform,identity,type\ngmail,"ann,${SECRET}\n`, /CSV_QUOTE_NOT_CLOSED/],
    [`platform,identity,type\ngmail,a"${SECRET}"n,oauth2\n`, /INVALID_OPENING_QUOTE/],
    [`platform,identity,type\ngmail,${"x".repeat(2 << 20)},oauth2\n`, /CSV_MAX_RECORD_SIZE/],
  ]) {
    const { code, err, sent } = await run(["csv", file("bad.csv", content)]);
    assert.deepEqual([code, sent.length], [content === "" ? 0 : 2, 0], `${content.slice(0, 60)}: ${err}`);
    assert.match(err, expected);
  }
  const missingFile = await run(["csv", join(folder, "none.csv")]);
  assert.deepEqual([missingFile.code, /no such file/.test(missingFile.err)], [2, true]);
});

test("files that are not JSON are rejected without showing their content", async () => {
  for (const [content, expected] of [
    [`{"credentials": "${SECRET}`, /line 1/],
    [`{}\n{"a": ${SECRET}}\n`, /line 2/],
    [Buffer.from([0xff, 0xfe, 0x00]), /UTF-8/],
  ]) {
    const { code, err } = await run(["nango", file("bad.json", content)]);
    assert.equal(code, 2);
    assert.match(err, expected);
  }
});

test("batches stay within 20 connections and 1 MiB", async () => {
  const withTokenLength = (id, length) =>
    nango(id, { credentials: { type: "OAUTH2", access_token: "é".repeat(length) } });
  const { sent } = await run([
    "nango",
    file(
      "big.json",
      [...Array(5)].map((_, index) => withTokenLength(`big-${index}`, 200_000)),
    ),
  ]);
  assert.equal(sent.length, 5);
  assert.ok(bodies.length >= 3, `${bodies.length} requests`);
  await run([
    "nango",
    file(
      "many.json",
      [...Array(41)].map((_, index) => nango(`many-${index}`)),
    ),
  ]);
  assert.deepEqual(
    bodies.map(({ connections }) => connections.length),
    [20, 20, 1],
  );
});

test("temporary failures are retried, and other failures end the import with their reason", async () => {
  const path = file("retry.json", [nango("retry")]);
  const problem = (status, headers) => (send) => send(status, { code: "x", detail: "The reason." }, headers);
  nextFailures = [
    (_, request) => request.socket.destroy(),
    problem(503, { "retry-after": "0.01" }),
    problem(429, { "retry-after": "0.01" }),
  ];
  assert.equal((await run(["nango", path])).code, 0);
  for (const [sendFailure, expected] of [
    [problem(403), /rejects the import: The reason\.[^]*catalog:read/],
    [problem(401), /rejects the import/],
    [problem(413), /rejects the import/],
    [(send) => send(404, "<html>"), /is not this service/],
    [(send) => send(302, "", { location: "https://evil.example" }), /is not this service/],
    [(send) => send(200, { results: [] }), /did not report each connection/],
  ]) {
    nextFailures = [sendFailure];
    const { code, err } = await run(["nango", path]);
    assert.equal(code, 1);
    assert.match(err, expected);
  }
});

test("a dry run writes nothing", async () => {
  const { code, lines, sent } = await run([
    "nango",
    file("dry.json", [nango("dry"), nango("dry2", { provider: "x", provider_config_key: "x" })]),
    "--dry-run",
  ]);
  assert.deepEqual([code, sent.length], [1, 0]);
  assert.match(lines.join("\n"), /valid .*dry\nfailed .*not in the catalog/);
});

test("wrong usage is explained", async () => {
  for (const [args, env] of [
    [[]],
    [["nango"]],
    [["zapier", "x"]],
    [["nango", "a", "b"]],
    [["nango", "x", "--label", "y"]],
    [["nango", "x", "--identity-type", "person"]],
    [["nango", "x", "--secret", "y"]],
    [["nango", "x"], { VAULT_KEY: "" }],
    [["nango", "x", "--url", "http://vault.example"]],
    [["nango", "x", "--url", "vault"]],
  ])
    assert.equal((await run(args, { env })).code, 2, args.join(" "));
  assert.equal((await run(["--help"])).code, 0);
});
