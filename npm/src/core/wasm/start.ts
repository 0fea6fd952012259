// Starts the WebAssembly module. Each entry point of the package loads it from a different source: the build resolves
// the import "wasm" to `embedded.ts`, `loaded.ts` or `compiled.ts`, each of which exports `ready`.
import { initSync } from "glue";
import { AuthenticationError, ValidationError, VaultError } from "../errors.js";
import type { LoadedModule } from "./module.js";
import { isInstanceOf } from "../realm.js";

export let isStarted = false;

/** Starts the module, unless it is already running. Compiles bytes first. */
export function start(module: () => LoadedModule): void {
  if (isStarted) return;
  try {
    const source = module();
    const compiled = isCompiled(source)
      ? (source as WebAssembly.Module)
      : new WebAssembly.Module(source as BufferSource);
    // Checked before `initSync`, which ignores all modules after the first one, even if the first one is wrong.
    if (!WebAssembly.Module.exports(compiled).some(({ name }) => name === "isApiKey"))
      throw new TypeError("This is not the WebAssembly module of connector-vault.");
    initSync({ module: compiled });
    isStarted = true;
  } catch (cause) {
    throw moduleError(
      `The WebAssembly module can't be started: ${(cause as Error).message} (A page with a Content-Security-Policy must ` +
        "allow it: `script-src 'wasm-unsafe-eval'`. The module must be of the same version as the package.)",
      cause,
    );
  }
}

// `instanceof` would fail: Next.js compiles the module in one realm and runs edge functions in another.
export const isCompiled = (source: unknown): boolean => isInstanceOf("WebAssembly.Module", source);

/** Creates the error for a module that can't be loaded or started. */
export function moduleError(message: string, cause?: unknown): VaultError {
  return new VaultError(message, { code: "no_webassembly", cause });
}

/** Calls a function of the module. Converts a problem that it throws to a `VaultError`. */
export function callModule<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    if (error instanceof VaultError) throw error;
    const { status, code, detail, errors } = (error ?? {}) as Partial<ValidationError & { detail: string }>;
    const type = status === 401 ? AuthenticationError : ValidationError;
    if (typeof detail === "string") throw new type(detail, { status, code, errors });
    // A bug: the module should throw only problems, which have a `detail`.
    throw new VaultError("This package failed.", { code: "internal", cause: error });
  }
}
