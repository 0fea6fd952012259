// What every entry of the package exports beside the errors.
import { text } from "./arguments.js";
import { checked } from "./errors.js";
import { Vault } from "./vault.js";

/** @param {() => object} core gives the WebAssembly that checks what is asked, once somebody needs it */
export function entry(core) {
  return {
    ConnectorVault: class ConnectorVault extends Vault {
      constructor(options) {
        super(core(), options);
      }
    },

    parseConnectionKey(key) {
      return checked(() => core().parseConnectionKey(text(key, "key")));
    },

    parseConnectorKey(key) {
      return checked(() => core().parseConnectorKey(text(key, "key")));
    },
  };
}
