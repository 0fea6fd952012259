// The type of an import of `connector-vault/connector-vault.wasm`, on platforms that import WebAssembly modules.
import type { LoadedModule } from "./module.js";

/** The WebAssembly module, for `init` and `initSync` of `connector-vault/slim`. */
declare const module: LoadedModule;
export default module;
