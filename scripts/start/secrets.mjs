// The secret that signs tokens on this machine. wrangler reads it from .dev.vars, which is nobody else's.
import { randomBytes } from "node:crypto";
import { appendFileSync, chmodSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../lib/paths.mjs";

const NAME = "SESSION_SECRET";

/** Makes one when there is none yet; whatever else the file holds stays. */
export function ensureSessionSecret(folder = root) {
  const file = join(folder, ".dev.vars");
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  if (new RegExp(`^\\s*(?:export\\s+)?${NAME}\\s*=`, "m").test(text)) return;
  const line = text === "" || text.endsWith("\n") ? "" : "\n";
  appendFileSync(file, `${line}${NAME}=${randomBytes(32).toString("base64url")}\n`, { mode: 0o600 });
  if (text === "") chmodSync(file, 0o600);
}
