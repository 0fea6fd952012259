/**
 * The same package without the embedded WebAssembly module: load it yourself, once, before anything else.
 *
 * @packageDocumentation
 */
export * from "./index.js";

/** A compiled module, where the platform's types have one: Node's have not. */
type CompiledModule = typeof globalThis extends { WebAssembly: { Module: { prototype: infer Module } } }
  ? Module & object
  : never;

/** The bytes of the module, or the compiled module. */
export type LoadedModule = ArrayBuffer | ArrayBufferView | CompiledModule;

/** Where to get the module from: its URL, an answer or bytes that hold it, or the compiled module. */
export type ModuleSource = string | URL | Request | Response | LoadedModule;

/** Loads the module. Later calls wait for the first one. */
export declare function init(source: ModuleSource | Promise<ModuleSource>): Promise<void>;

/** Loads the module at once, where the platform compiles synchronously. */
export declare function initSync(source: LoadedModule): void;
