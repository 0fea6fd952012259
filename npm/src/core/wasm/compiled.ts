// For Cloudflare Workers: imports the module, because Workers compile modules only when they are deployed.
import module from "./connector-vault.wasm";
import { start } from "./start.js";

export const ready = () => start(() => module);
