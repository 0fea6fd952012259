// The WebAssembly module.
import { Call, initSync, isApiKey, parseConnectionKey, parseConnectorKey } from "glue";
import { VaultError } from "./errors.js";

/**
 * Starts a module, compiling it where that has not been done; gives what it exports.
 * @param {BufferSource | WebAssembly.Module} module
 */
export function start(module) {
  try {
    const compiled = module instanceof WebAssembly.Module ? module : new WebAssembly.Module(module);
    // The glue keeps whatever starts, be it another module.
    if (!WebAssembly.Module.exports(compiled).some(({ name }) => name === "isApiKey"))
      throw new TypeError("It is another module.");
    initSync({ module: compiled });
    return { Call, isApiKey, parseConnectionKey, parseConnectorKey };
  } catch (cause) {
    throw noModule(
      `The WebAssembly module can't be started: ${cause.message} (A page with a Content-Security-Policy must allow it: ` +
        "`script-src 'wasm-unsafe-eval'`. The module must be of the same version as the package.)",
      cause,
    );
  }
}

/** An error of the module itself. */
export function noModule(message, cause) {
  return new VaultError(message, { code: "no_webassembly", cause });
}
