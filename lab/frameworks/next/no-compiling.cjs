// As Vercel's Edge Runtime does, `next start` then refuses to compile WebAssembly in edge functions.
const vm = require("node:vm");

const { createContext } = vm;
vm.createContext = (object, options) =>
  createContext(object, { ...options, codeGeneration: { strings: false, wasm: false } });
