// The default entry point. Contains the module as a string, so that bundlers need no configuration.
import { frequent, text } from "module";
import { start } from "./start.js";
import { decode } from "./decode.js";
import type { LoadedModule } from "./module.js";

// Cloudflare Workers can't compile bytes. A bundle that was built for Node but runs in a Worker can import the compiled
// module from its own folder. The path is not a literal in `import`, because bundlers would try to load the file.
const sibling = { wasm: "./connector-vault.wasm" };
let compiled: LoadedModule | undefined;
if (globalThis.navigator?.userAgent === "Cloudflare-Workers")
  import(/* webpackIgnore: true */ /* @vite-ignore */ sibling.wasm).then(
    (imported: { default: LoadedModule }) => {
      compiled = imported.default;
    },
    () => {},
  );

export const ready = () => start(() => compiled ?? decode({ frequent, text }));
