// Declares `connector-vault/connector-vault.wasm` for platforms that can import WebAssembly modules.
import type { LoadedModule } from "./module.js";

/** The WebAssembly module: pass it to `init` or `initSync` of `connector-vault/slim`. */
declare const module: LoadedModule;
export default module;
