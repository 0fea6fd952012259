// The package without its WebAssembly module, which whoever uses it loads.
import { noModule, start } from "./core.js";
import { entry } from "./entry.js";

export * from "./public-errors.js";

let started;
let loading;

const core = () => {
  if (!started) throw noModule("The WebAssembly module is not loaded yet: `await init(…)` first.");
  return started;
};

export const { ConnectorVault, parseConnectionKey, parseConnectorKey } = /* @__PURE__ */ entry(core);

export function initSync(source) {
  started ??= start(source);
}

export function init(source) {
  loading ??= compiled(source)
    .then(initSync)
    .catch((error) => {
      // Whoever calls again may have better luck.
      loading = undefined;
      throw error;
    });
  return loading;
}

/** The module that a source holds. Compiled off the main thread where there is one. */
async function compiled(source) {
  const given = await Promise.resolve(source).catch((cause) => {
    throw noModule("The WebAssembly module could not be loaded.", cause);
  });
  if (given instanceof WebAssembly.Module) return given;
  const bytes = given instanceof ArrayBuffer || ArrayBuffer.isView(given) ? given : await fetched(given);
  try {
    return await WebAssembly.compile(bytes);
  } catch {
    // The synchronous way says why, in the same words as everywhere.
    return bytes;
  }
}

async function fetched(source) {
  try {
    const isResponse = typeof source?.arrayBuffer === "function" && typeof source.status === "number";
    const response = isResponse ? source : await fetch(source);
    if (!response.ok) throw new Error(`The answer has the status ${response.status}.`);
    return await response.arrayBuffer();
  } catch (cause) {
    throw noModule("The WebAssembly module could not be loaded.", cause);
  }
}
