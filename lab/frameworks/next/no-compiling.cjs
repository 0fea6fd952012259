// With this module, `next start` rejects the compilation of WebAssembly in edge functions, as Vercel's Edge Runtime does.
const vm = require("node:vm");

const { createContext } = vm;
vm.createContext = (object, options) =>
  createContext(object, { ...options, codeGeneration: { strings: false, wasm: false } });
