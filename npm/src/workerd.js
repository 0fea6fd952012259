// The package for Cloudflare Workers, which compile modules when they are deployed, and never later.
import module from "./connector-vault.wasm";
import { start } from "./core.js";
import { entry } from "./entry.js";

export * from "./public-errors.js";

let started;
const core = () => (started ??= start(module));

export const { ConnectorVault, parseConnectionKey, parseConnectorKey } = /* @__PURE__ */ entry(core);
