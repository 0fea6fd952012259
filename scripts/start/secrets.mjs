// The secrets of the service on this machine: what signs tokens, and the key that seals credentials. wrangler reads them from
// .dev.vars, which is nobody else's.
import { randomBytes } from "node:crypto";
import { appendFileSync, chmodSync, existsSync, readFileSync, utimesSync, watchFile } from "node:fs";
import { join } from "node:path";
import { root } from "../lib/paths.mjs";
import { log } from "../lib/status.mjs";

const FILE = ".dev.vars";
const SECRETS = {
  SESSION_SECRET: { does: "signs tokens", make: () => randomBytes(32).toString("base64url") },
  VAULT_KEYS: {
    does: "seals credentials",
    // Never an id of a key before: whoever has lost that one is told which it was.
    make: () => `"local-${randomBytes(4).toString("hex")}:${randomBytes(32).toString("base64")}"`,
  },
};

/** Makes each that is not there yet; whatever else the file holds stays. */
export function ensureSecrets(folder = root) {
  const file = join(folder, FILE);
  for (const [name, { does, make }] of Object.entries(SECRETS)) {
    const text = existsSync(file) ? readFileSync(file, "utf8") : "";
    if (new RegExp(`^\\s*(?:export\\s+)?${name}\\s*=`, "m").test(text)) continue;
    const line = text === "" || text.endsWith("\n") ? "" : "\n";
    appendFileSync(file, `${line}${name}=${make()}\n`, { mode: 0o600 });
    if (text === "") chmodSync(file, 0o600);
    log(`Made ${name}, which ${does} on this machine, in ${FILE}.`);
  }
}

/** How often to look for changed secrets, in milliseconds. */
const LOOK_MS = 500;

/**
 * Reloads the service when .dev.vars changes, by touching wrangler.toml: `wrangler dev` 4.164 watches only the latter. Without
 * this, a running service would not know a key that `vault-keys rotate` has added.
 */
export function watchSecrets(folder = root) {
  watchFile(join(folder, FILE), { interval: LOOK_MS, persistent: false }, () => {
    const now = new Date();
    utimesSync(join(folder, "wrangler.toml"), now, now);
  });
}
