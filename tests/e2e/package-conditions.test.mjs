// The package runs in the real runtime of Workers with every condition that bundlers set: nothing is compiled from bytes.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";

const root = fileURLToPath(new URL("../..", import.meta.url));
const dist = join(root, "npm", "dist");
const ENTRY = `
import { parseConnectorKey } from "connector-vault";
export default { fetch: () => Response.json(parseConnectorKey("api::acme::v1")) };
`;

/** The file of the package that these conditions lead to. */
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
      external: ["*.wasm"],
    });
    const contents = readFileSync(join(dist, "connector-vault.wasm"));
    const modules = [
      { type: "ESModule", path: "entry.js", contents: bundled.outputFiles[0].text },
      { type: "CompiledWasm", path: "connector-vault.wasm", contents },
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
