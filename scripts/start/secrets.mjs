// Generates the secrets of the local service: the token signing secret, and the key that encrypts credentials. wrangler reads them
// from .dev.vars, which only this user can read.
import { randomBytes } from "node:crypto";
import { appendFileSync, chmodSync, existsSync, readFileSync, utimesSync, watchFile } from "node:fs";
import { join } from "node:path";
import { work } from "../lib/paths.mjs";
import { log } from "../lib/status.mjs";

const SECRETS_FILE = ".dev.vars";
const SECRETS = {
  SESSION_SECRET: { purpose: "signs tokens", generate: () => randomBytes(32).toString("base64url") },
  VAULT_KEYS: {
    purpose: "seals credentials",
    // A unique id, so that an error names the missing key if this file is lost and generated again.
    generate: () => `"local-${randomBytes(4).toString("hex")}:${randomBytes(32).toString("base64")}"`,
  },
};

/** Adds missing secrets to the file. */
export function ensureSecrets(folder = work) {
  const file = join(folder, SECRETS_FILE);
  for (const [name, { purpose, generate }] of Object.entries(SECRETS)) {
    const text = existsSync(file) ? readFileSync(file, "utf8") : "";
    if (new RegExp(`^\\s*(?:export\\s+)?${name}\\s*=`, "m").test(text)) continue;
    const line = text === "" || text.endsWith("\n") ? "" : "\n";
    appendFileSync(file, `${line}${name}=${generate()}\n`, { mode: 0o600 });
    if (text === "") chmodSync(file, 0o600);
    log(`Generated ${name}, which ${purpose} on this machine, in ${SECRETS_FILE}.`);
  }
}

const POLL_INTERVAL_MS = 500;

/**
 * Reloads the service when .dev.vars changes, by touching wrangler.toml: `wrangler dev` 4.164 watches only the latter. Without
 * this, a running service would not load a key that `vault-keys rotate` has added.
 */
export function watchSecrets(folder = work) {
  watchFile(join(folder, SECRETS_FILE), { interval: POLL_INTERVAL_MS, persistent: false }, () => {
    const now = new Date();
    utimesSync(join(folder, "wrangler.toml"), now, now);
  });
}
