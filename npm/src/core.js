// The WebAssembly module.
import { Call, initSync, isApiKey, parseConnectionKey, parseConnectorKey } from "glue";
import { VaultError } from "./errors.js";

/**
 * Starts a module, compiling it where that has not been done; gives what it exports.
 * @param {BufferSource | WebAssembly.Module} module
 */
export function start(module) {
  try {
    initSync({ module });
    return { Call, isApiKey, parseConnectionKey, parseConnectorKey };
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
