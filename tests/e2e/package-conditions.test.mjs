// The package runs in the Workers runtime with each export condition of bundlers, without compiling WebAssembly from bytes.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { createContext, runInContext, runInNewContext } from "node:vm";
import { build } from "esbuild";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";

const root = fileURLToPath(new URL("../..", import.meta.url));
const dist = join(root, "npm", "dist");
const ENTRY = `
import { parseConnectorKey } from "connector-vault";
export default { fetch: () => Response.json(parseConnectorKey("api::acme::v1")) };
`;

/** The file that the package exports for these conditions. */
function fileOf(conditions) {
  const { exports } = JSON.parse(readFileSync(join(root, "npm", "package.json"), "utf8"));
  const found = Object.entries(exports["."]).find(([condition]) => conditions.includes(condition));
  return join(root, "npm", found[1].default);
}

for (const [name, conditions] of [
  ["workerd", ["workerd", "worker", "import"]],
  ["browser", ["worker", "browser", "import"]],
  ["edge-light", ["edge-light", "worker", "import"]],
  ["require", ["require"]],
]) {
  test(`a Worker bundled with the condition ${name} runs the module`, async () => {
    const bundled = await build({
      stdin: { contents: ENTRY, resolveDir: root },
      alias: { "connector-vault": fileOf(conditions) },
      bundle: true,
      format: "esm",
      platform: "neutral",
      write: false,
      external: ["*.wasm", "*.wasm?module"],
    });
    const contents = readFileSync(join(dist, "connector-vault.wasm"));
    const path = `connector-vault.wasm${name === "edge-light" ? "?module" : ""}`;
    const modules = [
      { type: "ESModule", path: "entry.js", contents: bundled.outputFiles[0].text },
      { type: "CompiledWasm", path, contents },
    ];
    const worker = new Miniflare(convertV4MiniflareOptions({ modules, compatibilityDate: "2026-01-01" }));
    try {
      const response = await worker.dispatchFetch("http://worker.example/");
      assert.deepEqual(await response.json(), { platform: "acme", platformVersion: "v1" });
    } finally {
      await worker.dispose();
    }
  });
}

test("a module compiled in another realm starts, and an invalid one fails with no_webassembly", async () => {
  const entry = `
import { initSync, parseConnectorKey } from "connector-vault/slim";
const code = (body) => { try { body(); } catch (error) { return error.code; } };
globalThis.before = code(() => initSync({}));
initSync(given);
globalThis.after = parseConnectorKey("api::acme::v1").platform;
`;
  const bundled = await build({
    stdin: { contents: entry, resolveDir: root },
    alias: { "connector-vault/slim": join(dist, "slim.mjs") },
    bundle: true,
    platform: "neutral",
    write: false,
  });
  const compiled = new WebAssembly.Module(readFileSync(join(dist, "connector-vault.wasm")));
  const realm = createContext({ given: compiled, TextDecoder, TextEncoder }, { codeGeneration: { wasm: false } });
  runInContext(bundled.outputFiles[0].text, realm);
  assert.deepEqual([realm.before, realm.after], ["no_webassembly", "acme"]);
});

test("the module starts from bytes of another realm", async () => {
  const { init, parseConnectorKey } = await import(join(dist, "slim.mjs"));
  const bytes = readFileSync(join(dist, "connector-vault.wasm"));
  const foreign = runInNewContext("new ArrayBuffer(size)", { size: bytes.length });
  new Uint8Array(foreign).set(bytes);
  assert.ok(!(foreign instanceof ArrayBuffer));
  await init(foreign);
  assert.equal(parseConnectorKey("api::acme::v1").platform, "acme");
});
