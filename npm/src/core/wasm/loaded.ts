// The entry point `connector-vault/slim`: the caller loads the module.
import { isCompiled, isStarted, moduleError, start } from "./start.js";
import type { LoadedModule } from "./module.js";
import { isInstanceOf } from "../realm.js";

/** The module's URL, a response, its bytes, or the compiled module. */
export type ModuleSource = string | URL | Request | Response | LoadedModule;

let loading: Promise<void> | undefined;

/** Throws if the module has not been started. @internal */
export function ready(): void {
  if (!isStarted) throw moduleError("The WebAssembly module is not loaded yet: `await init(…)` first.");
}

/** Starts the module from its bytes or the compiled module. Throws where bytes can't be compiled synchronously. */
export function initSync(source: LoadedModule): void {
  start(() => source);
}

/** Loads the module. Later calls wait for the first one. After a failure, you can call this again. */
export function init(source: ModuleSource | Promise<ModuleSource>): Promise<void> {
  loading ??= compile(source)
    .then(initSync)
    .catch((error) => {
      loading = undefined;
      throw error;
    });
  return loading;
}

/** Loads and compiles the module, off the main thread if possible. */
async function compile(source: ModuleSource | Promise<ModuleSource>): Promise<LoadedModule> {
  const resolved = await Promise.resolve(source).catch((cause) => {
    throw moduleError("The WebAssembly module could not be loaded.", cause);
  });
  if (isCompiled(resolved)) return resolved as LoadedModule;
  const bytes = isBytes(resolved) ? resolved : await download(resolved as string | URL | Request | Response);
  try {
    return await WebAssembly.compile(bytes as BufferSource);
  } catch {
    // `start` compiles the bytes again and throws the same error as the other entry points.
    return bytes;
  }
}

async function download(source: string | URL | Request | Response): Promise<ArrayBuffer> {
  try {
    const response = isResponse(source) ? source : await fetch(source);
    if (!response.ok) throw new Error(`The response has the status ${response.status}.`);
    return await response.arrayBuffer();
  } catch (cause) {
    throw moduleError("The WebAssembly module could not be loaded.", cause);
  }
}

const isBytes = (source: unknown): source is ArrayBuffer | ArrayBufferView =>
  ArrayBuffer.isView(source) || isInstanceOf("ArrayBuffer", source);

// `instanceof` would reject a response from another realm.
function isResponse(source: string | URL | Request | Response): source is Response {
  const { arrayBuffer, status } = (source ?? {}) as Partial<Response>;
  return typeof arrayBuffer === "function" && typeof status === "number";
}
