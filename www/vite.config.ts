// Builds the site: console, API reference, connect window, and the unchanged files of public/. Run it with
// `npm run build:site`.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { defineConfig, type Plugin } from "vite";
import { guides } from "./guides";
import { logos } from "./logos";

/** Adds the licence texts of Swagger UI and its dependencies, which must be distributed with their code. */
function licences(): Plugin {
  const folder = join(import.meta.dirname, "..", "node_modules", "swagger-ui-dist");
  const source = () =>
    ["NOTICE", "LICENSE", "swagger-ui-es-bundle.js.LICENSE.txt"]
      .map((name) => readFileSync(join(folder, name), "utf8").trim())
      .join("\n\n");
  return {
    name: "licences",
    generateBundle() {
      this.emitFile({ type: "asset", fileName: "docs-licences.txt", source: `${source()}\n` });
    },
  };
}

/** Preloads the WebAssembly module, so that its download starts before the console's script runs. */
function preloadWasm(): Plugin {
  return {
    name: "preload-wasm",
    transformIndexHtml: {
      order: "post",
      handler: (_, { bundle, chunk }) => {
        const names = Object.keys(bundle ?? {}).filter((name) => name.endsWith(".wasm") && chunk?.code.includes(name));
        return names.map((name) => ({
          tag: "link",
          attrs: {
            rel: "preload",
            href: `/${name}`,
            as: "fetch",
            type: "application/wasm",
            crossorigin: "",
            fetchpriority: "low",
          },
          injectTo: "head" as const,
        }));
      },
    },
  };
}

export default defineConfig({
  root: import.meta.dirname,
  plugins: [licences(), guides(), logos(), preloadWasm()],
  // wrangler.toml must name the same folder under `assets`.
  build: {
    outDir: "dist",
    emptyOutDir: true,
    // The browsers that the npm package supports have all of ES2022.
    target: "es2022",
    // No inline assets, because the Content-Security-Policy forbids them.
    assetsInlineLimit: 0,
    // The default minifier rejects custom properties without an initial value, which charts.css has.
    cssMinify: "esbuild",
    // In kB, uncompressed. High, because Swagger UI is a single bundle.
    chunkSizeWarningLimit: 1600,
    // Prevent Vite from adding an inline script to the pages.
    modulePreload: { polyfill: false },
    rollupOptions: { input: { console: "index.html", reference: "docs.html", connect: "connect.html" } },
  },
});
