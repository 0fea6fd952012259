// The package with its WebAssembly module in it, as text: no bundler has to know about it.
import bytes from "module";
import { start } from "./core.js";
import { entry } from "./entry.js";

export * from "./public-errors.js";

let started;
const core = () => (started ??= start(Uint8Array.from(atob(bytes), (character) => character.charCodeAt(0))));

export const { ConnectorVault, parseConnectionKey, parseConnectorKey } = /* @__PURE__ */ entry(core);
