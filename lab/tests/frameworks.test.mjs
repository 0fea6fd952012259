// The npm package in frameworks: a production build of Next.js with a route in each runtime and a page, with both of its bundlers;
// and Vitest's plugin for Workers. Edge functions and Workers cannot compile WebAssembly from bytes.
import assert from "node:assert/strict";
import { cpSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { whileResponding } from "../serving.mjs";
import { root } from "../../scripts/lib/paths.mjs";
import { environment, run } from "../../scripts/lib/run.mjs";
import { installNpmPackages } from "../../scripts/setup/npm-packages.mjs";
import { launch, open } from "../../tests/e2e/support/browser.mjs";
import { freePort } from "../../tests/e2e/support/server.mjs";
import { build, folder } from "../../tests/e2e/support/workspace.mjs";

const FRAMEWORKS = join(root, "lab", "frameworks");
const NEXT_FOLDER = join(FRAMEWORKS, "next");
const program = (name) => join(FRAMEWORKS, "node_modules", ".bin", name);
/** The edge functions that each bundler can build: the path in the manifest, and the URL path. */
const EDGE_FUNCTIONS = {
  turbopack: { "/edge/route": "edge", "/api/edge": "api/edge" },
  webpack: { "/api/edge": "api/edge" },
};
const env = { NEXT_TELEMETRY_DISABLED: "1", CI: "1" };

/** Serves the built app while `use` runs. */
async function serving(use) {
  const port = await freePort();
  // Makes Next's local edge runtime reject compilation of WebAssembly, as the real one does.
  const NODE_OPTIONS = `--require=${join(NEXT_FOLDER, "no-compiling.cjs")}`;
  const origin = `http://127.0.0.1:${port}`;
  const args = ["start", "--port", String(port), "--hostname", "127.0.0.1"];
  const options = { cwd: NEXT_FOLDER, env: environment({ ...env, NODE_OPTIONS }) };
  await whileResponding(program("next"), args, options, `${origin}/node`, (output) => use(origin, output));
}

describe("the package in frameworks", { timeout: 600_000 }, () => {
  before(async () => {
    await build();
    await installNpmPackages(FRAMEWORKS);
    const installed = join(FRAMEWORKS, "node_modules", "connector-vault");
    rmSync(installed, { recursive: true, force: true });
    for (const part of ["package.json", "dist"])
      cpSync(join(root, "npm", part), join(installed, part), { recursive: true });
  });

  for (const [bundler, edge] of Object.entries(EDGE_FUNCTIONS)) {
    test(`the package runs in edge functions, Node and pages of Next.js with ${bundler}`, async () => {
      await run(program("next"), ["build", `--${bundler}`], { cwd: NEXT_FOLDER, env: { ...env, BUNDLER: bundler } });
      const manifest = JSON.parse(
        readFileSync(join(NEXT_FOLDER, ".next", "server", "middleware-manifest.json"), "utf8"),
      );
      for (const path of Object.keys(edge)) assert.equal(manifest.functions[path].wasm.length, 1, path);
      await serving(async (origin, output) => {
        const paths = [...Object.values(edge).map((path) => [path, "edge"]), ["node", "nodejs"]];
        for (const [path, runtime] of paths) {
          const response = await fetch(`${origin}/${path}`);
          assert.equal(response.status, 200, output());
          assert.deepEqual(await response.json(), { platform: "acme", platformVersion: "v1", runtime });
        }
        const browser = await launch();
        try {
          const { page, faults, close } = await open(browser, origin);
          await page.getByText("acme", { exact: true }).waitFor();
          assert.deepEqual(faults, []);
          await close();
        } finally {
          await browser.close();
        }
      });
    });
  }

  test("the package runs in Vitest's plugin for Workers, as in the README", async () => {
    const readme = readFileSync(join(root, "npm", "README.md"), "utf8");
    const config = readFileSync(join(FRAMEWORKS, "vitest", "vitest.config.mjs"), "utf8");
    const configPattern = /const byWorkerd = \{[^]*?\n\};/;
    assert.equal(configPattern.exec(readme)?.[0], configPattern.exec(config)[0]);
    const report = join(folder, "vitest.json");
    const options = ["run", "--reporter=json", `--outputFile=${report}`];
    await run(program("vitest"), options, { cwd: join(FRAMEWORKS, "vitest"), env });
    const { success, numPassedTests } = JSON.parse(readFileSync(report, "utf8"));
    const [file, ...others] = readdirSync(join(FRAMEWORKS, "vitest")).filter((name) => name.endsWith(".test.mjs"));
    assert.deepEqual(others, []);
    const count = readFileSync(join(FRAMEWORKS, "vitest", file), "utf8").match(/^test\(/gm).length;
    assert.deepEqual([success, numPassedTests], [true, count]);
  });
});
