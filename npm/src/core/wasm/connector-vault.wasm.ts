// What platforms that import WebAssembly modules return for the package's module.
import type { LoadedModule } from "./module.js";

/** The WebAssembly module, for `init` and `initSync` of `connector-vault/slim`. */
declare const module: LoadedModule;
export default module;
