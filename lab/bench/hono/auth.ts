// API keys: format, rows, and the cache of an isolate.
import type { Environment, Principal, Statement } from "./types";
import { Problem } from "./problem";
import { createMiddleware } from "hono/factory";

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const KEY_PATTERN = /^sk_(test|live)_[0-9A-Za-z]{38}$/;
const CACHE_MS = 30_000;

const crcTable = Uint32Array.from({ length: 256 }, (_, n) => {
  let value = n;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

function isWellFormed(secret: string): boolean {
  if (!KEY_PATTERN.test(secret)) return false;
  let crc = 0xffffffff;
  for (let at = 0; at < secret.length - 6; at += 1) crc = (crc >>> 8) ^ crcTable[(crc ^ secret.charCodeAt(at)) & 255]!;
  let remainder = (crc ^ 0xffffffff) >>> 0;
  let digits = "";
  for (let n = 0; n < 6; n += 1) {
    digits = DIGITS[remainder % 62] + digits;
    remainder = Math.floor(remainder / 62);
  }
  return secret.endsWith(digits);
}

async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

const remembered = new Map<string, { principal: Principal; since: number }>();

export const KEY_SQL = "SELECT account, environment, scopes, expires_at, revoked_at FROM api_keys WHERE hash = ?1";

/** Converts the row of a key to a principal. */
export function principalOf(row: Record<string, unknown> | undefined, secret: string): Principal {
  const environment = secret.slice(3, 7);
  const isOver = typeof row?.expires_at === "number" && row.expires_at <= Date.now();
  if (!row || row.revoked_at !== null || isOver || row.environment !== environment) {
    throw new Problem("invalid_key", "The API key is unknown, revoked or expired.");
  }
  return {
    account: String(row.account),
    environment,
    scopes: String(row.scopes).split(" "),
    expiresAt: row.expires_at as number | null,
  };
}

export function authorize({ scopes }: Principal, scope: string): void {
  if (!scopes.includes(scope)) throw new Problem("insufficient_scope", `This API key lacks the scope \`${scope}\`.`);
}

/** Hashes the key. Handlers that query D1 read the key's row in the same batch. */
export const readKey = createMiddleware<Environment>(async (c, next) => {
  const secret = c.req.header("x-service-secret");
  if (!secret)
    throw new Problem("missing_key", "The request has no API key. Send one in the header `x-service-secret`.");
  if (!isWellFormed(secret))
    throw new Problem("invalid_key", "The API key is malformed: a character is missing or mistyped.");
  c.set("secret", secret);
  c.set("hash", await sha256(secret));
  await next();
});

/** Authenticates the key; with `recent`, from the isolate's cache of 30 s. */
export const authenticate = (recent: boolean) =>
  createMiddleware<Environment>(async (c, next) => {
    const [secret, hash] = [c.get("secret"), c.get("hash")];
    const known = recent ? remembered.get(hash) : undefined;
    if (
      known &&
      Date.now() - known.since < CACHE_MS &&
      !(known.principal.expiresAt !== null && known.principal.expiresAt <= Date.now())
    ) {
      c.set("principal", known.principal);
    } else {
      const statement: Statement = c.env.VAULT.prepare(KEY_SQL).bind(hash);
      const [set] = await c.env.VAULT.batch([statement]);
      const principal = principalOf(set?.results[0], secret);
      if (remembered.size >= 1024) remembered.clear();
      remembered.set(hash, { principal, since: Date.now() });
      c.set("principal", principal);
    }
    await next();
  });
