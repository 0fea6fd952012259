// The package with its WebAssembly module in it, as text: no bundler has to know about it.
import { frequent, text } from "module";
import { start } from "./core.js";
import { decode } from "./embedded.js";
import { entry } from "./entry.js";

export * from "./public-errors.js";

let started;
const core = () => (started ??= start(decode({ frequent, text })));

export const { ConnectorVault, parseConnectionKey, parseConnectorKey } = /* @__PURE__ */ entry(core);
