// `verifyWebhook` in every supported runtime: each verifies the same requests, which the library of Standard Webhooks signs. All
// results must be as expected, and equal those of that library for the requests that it supports.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { Webhook } from "standardwebhooks";
import { root } from "../../scripts/lib/paths.mjs";
import { run } from "../../scripts/lib/run.mjs";
import { runtimeProgram, runtimes } from "../../scripts/setup/runtimes.mjs";
import { launch } from "./support/browser.mjs";
import { dist, library } from "./support/package.mjs";
import { Site } from "./support/site.mjs";
import { folder } from "./support/workspace.mjs";

const [OURS, PREVIOUS, OTHER] = Array.from({ length: 3 }, () => `whsec_${randomBytes(32).toString("base64")}`);
const BODY = JSON.stringify({ id: "evt_0000000000007", type: "connection.failed", data: { name: "Zoë ✓" } });
const MINUTE_S = 60;
const TOLERANCE_S = 5 * MINUTE_S;
const VERIFIED = "connection.failed of evt_0000000000007";
const REFUSED = "invalid_signature";

/** A request that is `age` seconds old, signed with secrets. `changed` replaces headers and body after signing. */
function signed(secrets, { age = 0, ...changed } = {}) {
  const time = new Date(Date.now() - age * 1000);
  const [id, timestamp] = ["msg_1", String(Math.floor(time.getTime() / 1000))];
  const signature = secrets.map((secret) => new Webhook(secret).sign(id, time, BODY)).join(" ");
  const headers = { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature };
  return { headers: { ...headers, ...changed.headers?.(headers) }, body: changed.body ?? BODY };
}

/** A signature with one changed byte. */
const withFlippedByte =
  (at) =>
  ({ "webhook-signature": signature }) => {
    const bytes = Buffer.from(signature.slice("v1,".length), "base64");
    bytes[at] ^= 1;
    return { "webhook-signature": `v1,${bytes.toString("base64")}` };
  };
const cases = [
  ["as it was signed", VERIFIED, OURS, signed([OURS])],
  ["another first byte of the signature", REFUSED, OURS, signed([OURS], { headers: withFlippedByte(0) })],
  ["another last byte of the signature", REFUSED, OURS, signed([OURS], { headers: withFlippedByte(31) })],
  ["another first byte of the body", REFUSED, OURS, signed([OURS], { body: ` ${BODY.slice(1)}` })],
  ["another last byte of the body", REFUSED, OURS, signed([OURS], { body: `${BODY.slice(0, -1)} ` })],
  ["another id", REFUSED, OURS, signed([OURS], { headers: () => ({ "webhook-id": "msg_2" }) })],
  ["another secret", REFUSED, OTHER, signed([OURS])],
  ["without a signature", REFUSED, OURS, signed([OURS], { headers: () => ({ "webhook-signature": "" }) })],
  [
    "a signature of an unknown version",
    REFUSED,
    OURS,
    signed([OURS], { headers: (all) => ({ "webhook-signature": all["webhook-signature"].replace("v1,", "v2,") }) }),
  ],
  ["four minutes old", VERIFIED, OURS, signed([OURS], { age: TOLERANCE_S - MINUTE_S })],
  ["six minutes old", REFUSED, OURS, signed([OURS], { age: TOLERANCE_S + MINUTE_S })],
  ["six minutes ahead", REFUSED, OURS, signed([OURS], { age: -TOLERANCE_S - MINUTE_S })],
  ["two signatures, the new secret", VERIFIED, OURS, signed([OURS, PREVIOUS])],
  ["two signatures, the previous secret", VERIFIED, PREVIOUS, signed([OURS, PREVIOUS])],
  ["two signatures, neither of this secret", REFUSED, OTHER, signed([OURS, PREVIOUS])],
  ["one of two secrets", VERIFIED, [OTHER, OURS], signed([OURS])],
].map(([name, expected, secret, request]) => ({ name, expected, secret, request }));

/** Verifies each request as headers and body, and as a `Request`. Runs in each runtime, so it must not use this module. */
async function verifyAll({ verifyWebhook }, cases) {
  const outcome = async (request, secret) => {
    try {
      const { type, id, data } = await verifyWebhook(request, secret);
      return data.name === "Zoë ✓" ? `${type} of ${id}` : "another body";
    } catch (error) {
      return error.code ?? String(error);
    }
  };
  const resultOf = async ({ request, secret }) => [
    await outcome(request, secret),
    await outcome(new Request("https://app.example/hook", { method: "POST", ...request }), secret),
  ];
  return Promise.all(cases.map(resultOf));
}

const expected = Object.fromEntries(cases.map(({ name, expected: verdict }) => [name, [verdict, verdict]]));
const named = (all) => Object.fromEntries(cases.map(({ name }, index) => [name, all[index]]));

describe("verifyWebhook", () => {
  const project = join(folder, "verify");
  const script = join(project, "verify.mjs");

  before(() => {
    mkdirSync(join(project, "node_modules"), { recursive: true });
    symlinkSync(join(root, "npm"), join(project, "node_modules", "connector-vault"), "dir");
    writeFileSync(join(project, "package.json"), '{ "type": "module" }\n');
    const serialized = JSON.stringify(cases);
    const text = `import * as library from "connector-vault";\n${verifyAll}\nconsole.log(JSON.stringify(await verifyAll(library, ${serialized})));\n`;
    writeFileSync(script, text);
  });

  test("Node agrees with the library of Standard Webhooks", async () => {
    assert.deepEqual(named(await verifyAll(library, cases)), expected);
    for (const { name, secret, request, expected: verdict } of cases.filter((one) => typeof one.secret === "string")) {
      const verify = () => new Webhook(secret).verify(request.body, request.headers);
      if (verdict === REFUSED) assert.throws(verify, { name: "WebhookVerificationError" }, name);
      else assert.equal(verify().type, "connection.failed", name);
    }
  });

  for (const [name, ...args] of [["deno", "run", "--no-lock", "--node-modules-dir=manual"], ["bun"]]) {
    test(name, async () => {
      await runtimes();
      const output = await run(runtimeProgram(name), [...args, script], { cwd: project });
      assert.deepEqual(named(JSON.parse(output)), expected);
    });
  }

  test("Workers agree with the library of Standard Webhooks", async () => {
    const wrangler = createRequire(import.meta.url).resolve("wrangler");
    const { convertV4MiniflareOptions, Miniflare } = createRequire(wrangler)("miniflare");
    const worker = `import * as library from "./workerd.mjs";\n${verifyAll}\nexport default { fetch: async (request) => Response.json(await verifyAll(library, await request.json())) };\n`;
    const runtime = new Miniflare(
      convertV4MiniflareOptions({
        modulesRoot: dist,
        modules: [
          { type: "ESModule", path: join(dist, "verify.js"), contents: worker },
          { type: "ESModule", path: join(dist, "workerd.mjs") },
          { type: "CompiledWasm", path: join(dist, "connector-vault.wasm") },
        ],
        compatibilityDate: "2026-01-01",
      }),
    );
    try {
      const response = await runtime.dispatchFetch("http://worker/", { method: "POST", body: JSON.stringify(cases) });
      assert.deepEqual(named(await response.json()), expected);
    } finally {
      await runtime.dispose();
    }
  });

  describe("a browser", () => {
    let [site, chromium] = [];

    before(async () => {
      const pages = join(project, "pages");
      mkdirSync(pages);
      copyFileSync(join(dist, "index.mjs"), join(pages, "connector-vault.mjs"));
      writeFileSync(join(pages, "index.html"), "<!doctype html><title>A page</title>");
      [site, chromium] = await Promise.all([Site.start(pages), launch()]);
    });

    after(() => Promise.all([site?.stop(), chromium?.close()]));

    test("Chromium agrees with the library of Standard Webhooks", async () => {
      const page = await chromium.newPage();
      await page.goto(site.origin);
      const seen = await page.evaluate(
        async ([text, cases]) =>
          new Function("library", "given", `${text}\nreturn verifyAll(library, given);`)(
            await import("/connector-vault.mjs"),
            cases,
          ),
        [String(verifyAll), cases],
      );
      assert.deepEqual(named(seen), expected);
    });
  });
});
