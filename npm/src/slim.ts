/**
 * The same package without the embedded WebAssembly module: load it once, before anything else.
 *
 * @packageDocumentation
 */
export * from "./index.js";
export { init, initSync } from "./loaded.js";
export type { ModuleSource } from "./loaded.js";
export type { LoadedModule } from "./module.js";
