/**
 * The same package without the embedded WebAssembly module: load it yourself, once, before anything else.
 *
 * @packageDocumentation
 */
export * from "./index.js";

/** Where to get the module from: its URL, an answer or bytes that hold it, or the compiled module. */
export type ModuleSource = string | URL | Request | Response | BufferSource | WebAssembly.Module;

/** Loads the module. Later calls wait for the first one. */
export declare function init(source: ModuleSource | Promise<ModuleSource>): Promise<void>;

/** Loads the module at once, where the platform compiles synchronously. */
export declare function initSync(source: BufferSource | WebAssembly.Module): void;
