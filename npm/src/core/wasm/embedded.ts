// The default entry contains the module as text: no bundler has to know about it.
import { frequent, text } from "module";
import { start } from "./start.js";
import { decode } from "./decode.js";
import type { LoadedModule } from "./module.js";

// A Cloudflare Worker may not compile bytes. A bundle for Node that runs there can import the compiled module if that is
// beside it. Not written into `import`: bundlers would look for the file, and most of them can't read it.
const beside = { wasm: "./connector-vault.wasm" };
let compiled: LoadedModule | undefined;
if (globalThis.navigator?.userAgent === "Cloudflare-Workers")
  import(/* webpackIgnore: true */ /* @vite-ignore */ beside.wasm).then(
    (imported: { default: LoadedModule }) => {
      compiled = imported.default;
    },
    () => {},
  );

/** Starts the module. */
export const ready = () => start(() => compiled ?? decode({ frequent, text }));
