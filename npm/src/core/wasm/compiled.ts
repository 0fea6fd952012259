// A Cloudflare Worker imports the module, because Workers compile modules when they are deployed, and never later.
import module from "./connector-vault.wasm";
import { start } from "./start.js";

/** Starts the module. */
export const ready = () => start(() => module);
