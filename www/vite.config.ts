// The site: the console and the API reference, and the files of public/ as they are. `npm run build:site` runs this.
import { defineConfig } from "vite";

export default defineConfig({
  root: import.meta.dirname,
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
    // No script that Vite would write into a page.
    modulePreload: { polyfill: false },
    rollupOptions: { input: { console: "index.html" } },
  },
});
