// The entry point for Cloudflare Workers. Imports the module, because Workers can't compile WebAssembly at run time.
import module from "./connector-vault.wasm";
import { start } from "./start.js";

export const ready = () => start(() => module);
