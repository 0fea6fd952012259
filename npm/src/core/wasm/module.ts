// The types of the WebAssembly module.

/** A compiled module, or `never` where the types lack `WebAssembly`, as in Node. */
type CompiledModule = typeof globalThis extends { WebAssembly: { Module: { prototype: infer Module } } }
  ? Module & object
  : never;

/** The bytes of the module, or the compiled module. */
export type LoadedModule = ArrayBuffer | ArrayBufferView | CompiledModule;
