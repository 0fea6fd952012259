/** The WebAssembly module, for `init` and `initSync` of `connector-vault/slim`, where a platform imports it as such. */
declare const module: import("./slim.js").LoadedModule;
export default module;
