// Installs everything that building, serving and testing need. Fast if it is already installed.
//
//   node scripts/setup.mjs [--browser]
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { elapsed, log } from "./lib/status.mjs";
import { settleAll } from "./lib/settle-all.mjs";
import { root } from "./lib/paths.mjs";
import { main } from "./lib/problem.mjs";
import { bindgen } from "./setup/bindgen.mjs";
import { browser } from "./setup/browser.mjs";
import { installLintTools } from "./setup/lint-tools.mjs";
import { installNpmPackages } from "./setup/npm-packages.mjs";
import { rust } from "./setup/rust.mjs";

/**
 * @param {{ withLints?: boolean, withBrowser?: boolean, verbose?: boolean, meanwhile?: (tools: { wasm: object }) => Promise<unknown> }} [options]
 *   `verbose` also reports if there was nothing to do; `meanwhile` runs concurrently with the rest, as soon as Rust is installed
 * @returns {Promise<{ wasm: object }>} the environment variables that wasm builds need
 */
export async function setup({
  withLints = false,
  withBrowser = false,
  verbose = false,
  meanwhile = async () => {},
} = {}) {
  const start = Date.now();
  // Created in advance: two cargo processes that start without a target folder can each replace the other's.
  for (const name of ["tools", "wasm"]) mkdirSync(join(root, "target", name), { recursive: true });
  // In parallel: npm waits for the network, the rest needs the processor.
  const npm = installNpmPackages();
  const tools = (async () => {
    const wasm = await rust();
    const concurrent = meanwhile({ wasm });
    const otherTools = (async () => {
      await bindgen();
      if (withLints) await installLintTools();
      if (withBrowser) await browser();
    })();
    await settleAll([concurrent, otherTools]);
    return wasm;
  })();
  const results = await settleAll([npm, tools]);
  const took = Date.now() - start;
  if (verbose || took > 1000) log(`Set-up is complete (${elapsed(took)}).`);
  return { wasm: results[1] };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await main(() => setup({ withBrowser: process.argv.includes("--browser"), verbose: true }).then(() => 0));
}
