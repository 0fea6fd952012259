// Responses while and after the WebAssembly module traps. No input makes the real module trap, so the tests replace it with a failing
// function or a modified copy.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import binaryen from "binaryen";
import { build } from "esbuild";

// Uses the version of Miniflare that wrangler uses.
const wrangler = createRequire(import.meta.url).resolve("wrangler");
const { convertV4MiniflareOptions, Miniflare } = createRequire(wrangler)("miniflare");

const FAILING = `export function fetch(request) {
  if (request.url.includes("later")) return Promise.reject(new Error("unreachable at /secret/path"));
  throw new WebAssembly.RuntimeError("unreachable at /secret/path");
}
export function rehearse() {}
export function scheduled() {}
export function consume() {}`;

describe("a trap", () => {
  const folder = mkdtempSync(join(tmpdir(), "connector-vault-internal-"));
  const logged = [];
  let entry;
  let error;

  before(async () => {
    const outfile = join(folder, "entry.mjs");
    const failing = {
      name: "failing",
      setup: (it) => {
        it.onResolve({ filter: /^glue$/ }, () => ({ path: "failing", namespace: "failing" }));
        it.onLoad({ filter: /.*/, namespace: "failing" }, () => ({ contents: FAILING }));
      },
    };
    await build({
      entryPoints: ["src/edge/entry.js"],
      bundle: true,
      format: "esm",
      outfile,
      plugins: [failing],
      logLevel: "silent",
    });
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
      test(`${method} ${path}: a constant 500, with the cause only in the log`, async () => {
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
            detail: "Something went wrong in the service. Its operator can find the cause in the log, by `requestId`.",
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

/** A copy of the Worker's module whose `fetch` traps if its environment is `null`, and then at each call. */
function withTrap(bytes) {
  const module = binaryen.readBinary(bytes);
  const { value } = binaryen.getExportInfo(module.getExport("fetch"));
  const { params, results } = binaryen.getFunctionInfo(module.getFunction(value));
  const types = binaryen.expandType(params);
  const arguments_ = types.map((type, at) => module.local.get(at, type));
  const { i32 } = module;
  module.addGlobal("spoiled", binaryen.i32, true, i32.const(0));
  const corrupt = module.if(
    module.ref.is_null(module.local.get(1, types[1])),
    module.global.set("spoiled", i32.const(1)),
  );
  const trap = module.if(module.global.get("spoiled", binaryen.i32), module.unreachable());
  const body = module.block(null, [corrupt, trap, module.call(value, arguments_, results)], results);
  module.addFunction("trapping", params, results, [], body);
  module.removeExport("fetch");
  module.addFunctionExport("trapping", "fetch");
  const binary = module.emitBinary();
  module.dispose();
  return binary;
}

// The entry module, with a path that triggers the trap.
const MAIN = `import worker from "./index.js";
export default { fetch: (request, env, ctx) => worker.fetch(request, request.headers.has("x-trap") ? null : env, ctx) };`;

describe("after a trap", () => {
  let runtime;

  before(async () => {
    const bytes = readFileSync("build/index_bg.wasm");
    const modules = [
      { type: "ESModule", path: "main.js", contents: MAIN },
      { type: "ESModule", path: "index.js", contents: readFileSync("build/index.js", "utf8") },
      { type: "CompiledWasm", path: "index_bg.wasm", contents: withTrap(bytes) },
    ];
    runtime = new Miniflare(convertV4MiniflareOptions({ modules, compatibilityDate: "2026-11-01" }));
  });

  after(() => runtime.dispose());

  const sendRequest = async (headers) => {
    const response = await runtime.dispatchFetch("https://vault.example/health", { headers });
    return [response.status, await response.text()];
  };

  test("the next request gets a new instance of the module", async () => {
    const well = await sendRequest({});
    assert.equal(well[0], 200, well[1]);
    for (const round of [1, 2, 3]) {
      const [status, text] = await sendRequest({ "x-trap": "yes" });
      assert.deepEqual([status, JSON.parse(text).code], [500, "internal"], `round ${round}`);
      assert.deepEqual(await sendRequest({}), well, `round ${round}`);
    }
  });
});
