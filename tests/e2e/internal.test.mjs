// What a caller gets when the WebAssembly module traps. The real module has no input that makes it trap, so a class that
// fails stands in for it; the module around it is the real one.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";

const FAILING = `export default class {
  fetch(request) {
    if (request.url.includes("later")) return Promise.reject(new Error("unreachable at /secret/path"));
    throw new WebAssembly.RuntimeError("unreachable at /secret/path");
  }
}`;

describe("a trap", () => {
  const folder = mkdtempSync(join(tmpdir(), "connector-vault-internal-"));
  const logged = [];
  let entry;
  let error;

  before(async () => {
    const outfile = join(folder, "entry.mjs");
    const failing = { name: "failing", setup: (it) => {
      it.onResolve({ filter: /build\/index\.js$/ }, () => ({ path: "failing", namespace: "failing" }));
      it.onLoad({ filter: /.*/, namespace: "failing" }, () => ({ contents: FAILING }));
    } };
    await build({ entryPoints: ["src/edge/entry.js"], bundle: true, format: "esm", outfile, plugins: [failing], logLevel: "silent" });
    entry = (await import(pathToFileURL(outfile).href)).default;
    error = console.error;
    console.error = (line) => logged.push(line);
  });

  after(() => {
    console.error = error;
    rmSync(folder, { recursive: true });
  });

  for (const path of ["now", "later"]) {
    for (const method of ["GET", "HEAD"]) {
      test(`${method} ${path}: a constant 500, its cause in the log only`, async () => {
        const response = await entry.fetch(new Request(`https://vault.example/v1/${path}`, { method }), {}, {});
        const requestId = response.headers.get("x-request-id");
        assert.equal(response.status, 500);
        assert.equal(response.headers.get("content-type"), "application/problem+json");
        assert.equal(response.headers.get("cache-control"), "private, no-store");
        const text = await response.text();
        if (method === "HEAD") assert.equal(text, "");
        else {
          assert.deepEqual(JSON.parse(text), {
            type: "https://vault.example/problems/internal",
            title: "Internal error",
            status: 500,
            detail: "The service has a fault. The operator finds it in the log under `requestId`.",
            code: "internal",
            requestId,
          });
        }
        const line = logged.at(-1);
        assert.ok(line.includes(requestId) && line.includes("unreachable at /secret/path"), line);
      });
    }
  }
});
