// Replays the recorded requests of a starting isolate on the real runtime: inside a request, so that the test can read the responses,
// but without timers, because a starting isolate has none.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { build as bundle } from "esbuild";
import { root } from "../../scripts/lib/paths.mjs";

// Uses the version of Miniflare that wrangler uses.
const wrangler = createRequire(import.meta.url).resolve("wrangler");
const { convertV4MiniflareOptions, Miniflare } = createRequire(wrangler)("miniflare");

const MAIN = `import { rehearse as answer } from "glue";
import { rehearse } from "./src/edge/rehearsal.js";
export default {
  async fetch() {
    globalThis.setTimeout = () => {
      throw new Error("Disallowed operation called within global scope.");
    };
    const answered = [];
    await rehearse(answer, ({ method, path, status }, response) => answered.push([method, path, status, response.status]));
    return Response.json(answered);
  },
};`;

describe("the rehearsal", () => {
  const folder = mkdtempSync(join(tmpdir(), "connector-vault-rehearsal-"));
  let runtime;

  before(async () => {
    const outfile = join(folder, "main.js");
    // The glue of the Worker's last build.
    const alias = { glue: join(root, "target", "worker", "index.js") };
    const stdin = { contents: MAIN, resolveDir: root };
    await bundle({
      stdin,
      alias,
      outfile,
      absWorkingDir: root,
      bundle: true,
      format: "esm",
      external: ["./index_bg.wasm"],
      logLevel: "error",
    });
    const modules = [
      { type: "ESModule", path: "main.js", contents: readFileSync(outfile, "utf8") },
      { type: "CompiledWasm", path: "index_bg.wasm", contents: readFileSync(join(root, "build", "index_bg.wasm")) },
    ];
    runtime = new Miniflare(convertV4MiniflareOptions({ modules, compatibilityDate: "2026-11-01" }));
  });

  after(async () => {
    await runtime?.dispose();
    rmSync(folder, { recursive: true });
  });

  test("every response has the recorded status", async () => {
    const response = await runtime.dispatchFetch("https://vault.example/");
    const answered = await response.json();
    assert.ok(answered.length > 15);
    assert.deepEqual(
      answered.filter(([, , expected, status]) => status !== expected),
      [],
    );
  });
});
