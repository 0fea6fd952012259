// The WebAssembly module.
import * as glue from "glue";
import { VaultError } from "./errors.js";

/**
 * Starts a module, compiling it where that has not been done; gives what it exports.
 * @param {BufferSource | WebAssembly.Module} module
 */
export function start(module) {
  try {
    glue.initSync({ module });
    return glue;
  } catch (cause) {
    throw noModule(
      "The WebAssembly module can't be compiled here. A page with a Content-Security-Policy must allow it: `script-src 'wasm-unsafe-eval'`.",
      cause,
    );
  }
}

/** An error of the module itself. */
export function noModule(message, cause) {
  return new VaultError(message, { code: "no_webassembly", cause });
}
