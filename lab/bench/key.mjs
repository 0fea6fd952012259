// API keys for the benchmarks.
import { createHash, randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** Generates an API key with all scopes that the benchmarks need, and its row of `api_keys`. */
export function makeKey() {
  const body = `sk_test_${Array.from(randomBytes(32), (byte) => DIGITS[byte % 62]).join("")}`;
  let remainder = crc32(body);
  let checksum = "";
  for (let n = 0; n < 6; n += 1) {
    checksum = DIGITS[remainder % 62] + checksum;
    remainder = Math.floor(remainder / 62);
  }
  const secret = body + checksum;
  const hash = createHash("sha256").update(secret).digest("hex");
  const scopes = "catalog:read connections:read connections:write";
  const row = {
    hash,
    id: "bench",
    account: "bench",
    environment: "test",
    scopes,
    created_at: 0,
    expires_at: null,
    revoked_at: null,
  };
  return { secret, row };
}
