// Starts the WebAssembly module. Each entry point of the package loads it from a different place, so the import "wasm"
// resolves to `embedded.ts`, `loaded.ts` or `compiled.ts`. The function `ready` there starts the module if necessary.
import { initSync } from "glue";
import { AuthenticationError, ValidationError, VaultError } from "../errors.js";
import type { LoadedModule } from "./module.js";
import { isOf } from "../realm.js";

export let isStarted = false;

/** Starts the module, unless it is already running. Compiles it first if it is bytes. */
export function start(module: () => LoadedModule): void {
  if (isStarted) return;
  try {
    const source = module();
    const compiled = isCompiled(source)
      ? (source as WebAssembly.Module)
      : new WebAssembly.Module(source as BufferSource);
    // Checked first: the glue keeps the first module that it gets, even a wrong one.
    if (!WebAssembly.Module.exports(compiled).some(({ name }) => name === "isApiKey"))
      throw new TypeError("This is not the WebAssembly module of connector-vault.");
    initSync({ module: compiled });
    isStarted = true;
  } catch (cause) {
    throw noModule(
      `The WebAssembly module can't be started: ${(cause as Error).message} (A page with a Content-Security-Policy must ` +
        "allow it: `script-src 'wasm-unsafe-eval'`. The module must be of the same version as the package.)",
      cause,
    );
  }
}

/** Does not use `instanceof`, because Next.js compiles the module in one realm and runs edge functions in another. */
export const isCompiled = (source: unknown): boolean => isOf("WebAssembly.Module", source);

/** The error if the module can't be loaded or started. */
export function noModule(message: string, cause?: unknown): VaultError {
  return new VaultError(message, { code: "no_webassembly", cause });
}

/** Calls the module. Converts a problem that it throws into the error that a response with this problem would cause. */
export function callModule<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    if (error instanceof VaultError) throw error;
    const { status, code, detail, errors } = (error ?? {}) as Partial<ValidationError & { detail: string }>;
    const type = status === 401 ? AuthenticationError : ValidationError;
    if (typeof detail === "string") throw new type(detail, { status, code, errors });
    // Not expected: the module throws only problems, which have a `detail`.
    throw new VaultError("This package failed.", { code: "internal", cause: error });
  }
}
