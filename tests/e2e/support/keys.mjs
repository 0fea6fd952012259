// Generates API keys as docs/api.md describes them, independently of the project's code.
import { createHash, createHmac, randomBytes, randomUUID } from "node:crypto";
import { crc32 } from "node:zlib";
import document from "../../../www/public/v1/openapi.json" with { type: "json" };
import { retryWhileBusy } from "../../../scripts/storage/busy.mjs";
import { secrets } from "./http.mjs";

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
export const DEFAULT_SCOPES = "catalog:read connections:read connections:write";
export const ALL_SCOPES = document.components.schemas.Scope.enum.join(" ");

/** The CRC-32 of a string as six base62 digits. */
export function checksum(text) {
  let remainder = crc32(text);
  let digits = "";
  for (let i = 0; i < 6; i += 1, remainder = Math.floor(remainder / 62)) digits = DIGITS[remainder % 62] + digits;
  return digits;
}

/** A well-formed key. */
export function secret(environment = "test") {
  const body = `sk_${environment}_${[...randomBytes(32)].map((byte) => DIGITS[byte % 62]).join("")}`;
  const apiKey = body + checksum(body);
  secrets.add(apiKey);
  return apiKey;
}

/** A key with its database row; `row` overrides columns. */
export function key(row = {}) {
  const text = secret(row.environment);
  const hash = createHash("sha256").update(text).digest("hex");
  const columns = { account: "acme", environment: "test", scopes: DEFAULT_SCOPES, expires_at: null, revoked_at: null };
  return { secret: text, row: { hash, id: randomUUID(), created_at: 0, ...columns, ...row } };
}

/**
 * A token of a key, signed as the service signs it. `claims` override: `e` is the expiry in milliseconds, `i` the identity, and `s` the
 * bits of its scopes.
 */
export function token(signer, { row }, claims) {
  const text = signedToken(
    { v: 1, k: row.id, s: 7, e: Date.now() + 900_000, i: "ann", ...claims },
    signer,
    row.environment,
  );
  secrets.add(text);
  return text;
}

export function signedToken(claims, signer, environment) {
  const signedPart = `st_${environment}_${Buffer.from(JSON.stringify(claims)).toString("base64url")}`;
  return `${signedPart}.${createHmac("sha256", signer).update(signedPart).digest("base64url")}`;
}

/** Stores the rows of keys. Waits until no other process writes to the database. */
export async function store(database, keys) {
  const names = Object.keys(keys[0].row);
  const insert = database.prepare(`INSERT INTO api_keys (${names}) VALUES (${names.map(() => "?")})`);
  await retryWhileBusy(() => database.batch(keys.map(({ row }) => insert.bind(...names.map((name) => row[name])))));
}
