/**
 * The package without its embedded WebAssembly module. Load the module once, before any call.
 *
 * @packageDocumentation
 */
export * from "./index.js";
export { init, initSync } from "./core/wasm/loaded.js";
export type { ModuleSource } from "./core/wasm/loaded.js";
export type { LoadedModule } from "./core/wasm/module.js";
