// The site: the console and the API reference, and the files of public/ as they are. `npm run build:site` runs this.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { defineConfig, type Plugin } from "vite";
import { guides } from "./guides";
import { logos } from "./logos";

/** The licence texts of Swagger UI and its parts, which must go wherever its code goes. */
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

/** Lets the console ask for the WebAssembly module at once, instead of when its script has been read and runs. */
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
  // Where wrangler.toml says that the assets are.
  build: {
    outDir: "dist",
    emptyOutDir: true,
    // What every browser has that the npm package runs in.
    target: "es2022",
    // A file of its own for everything: the Content-Security-Policy knows no inlined one.
    assetsInlineLimit: 0,
    // The other one refuses what charts.css has: custom properties registered without an initial value.
    cssMinify: "esbuild",
    // Kilobytes, before they are compressed: Swagger UI comes as one piece.
    chunkSizeWarningLimit: 1600,
    // No script that Vite would write into a page.
    modulePreload: { polyfill: false },
    rollupOptions: { input: { console: "index.html", reference: "docs.html", connect: "connect.html" } },
  },
});
