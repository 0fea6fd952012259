// The package with its WebAssembly module in it, deflated, as text: no bundler has to know about it.
import { inflateSync } from "fflate";
import deflated from "module";
import { start } from "./core.js";
import { entry } from "./entry.js";

export * from "./public-errors.js";

let started;
const core = () => (started ??= start(inflateSync(Uint8Array.from(atob(deflated), (byte) => byte.charCodeAt(0)))));

export const { ConnectorVault, parseConnectionKey, parseConnectorKey } = /* @__PURE__ */ entry(core);
