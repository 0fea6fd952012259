// The proxy: one D1 batch for the key, the connection and its credentials; WebCrypto to decrypt them; the platform's URL from KV,
// cached per isolate; headers removed in both directions.
import type { Context } from "hono";
import { KEY_SQL, authorize, principalOf } from "./auth";
import { Problem } from "./problem";
import type { Environment } from "./types";

const FORMAT = "connector-vault/credentials/v1";
const NONCE_LENGTH = 12;
const CREDENTIALS_SQL = `SELECT c.platform, h.sealed FROM api_keys k
  CROSS JOIN connections c ON c.account = k.account AND c.environment = k.environment AND c.id = ?2
  CROSS JOIN credentials h ON h.account = c.account AND h.environment = c.environment AND h.connection_id = c.id
  WHERE k.hash = ?1 AND k.revoked_at IS NULL`;
const DROPPED_REQUEST_HEADERS = new Set([
  ...[
    "authorization",
    "cdn-loop",
    "connection",
    "content-length",
    "cookie",
    "expect",
    "forwarded",
    "host",
    "keep-alive",
  ],
  ...["origin", "proxy-authorization", "referer", "te", "trailer", "transfer-encoding", "true-client-ip", "upgrade"],
  ...["via", "x-real-ip", "x-service-secret"],
]);
const DROPPED_REQUEST_FAMILIES = /^(access-control-|cf-|sec-|x-forwarded-|x-vault-)/;
const DROPPED_RESPONSE_HEADERS = new Set([
  ...["age", "alt-svc", "cache-control", "clear-site-data", "connection", "content-security-policy", "expires"],
  ...[
    "keep-alive",
    "nel",
    "pragma",
    "refresh",
    "report-to",
    "server-timing",
    "set-cookie",
    "strict-transport-security",
  ],
  ...["trailer", "transfer-encoding", "upgrade", "vary", "x-content-type-options"],
]);
const DROPPED_RESPONSE_FAMILIES = /^(access-control-|cf-|x-vault-)/;

const text = new TextEncoder();
const servers = new Map<string, string>();
const keys = new Map<string, Promise<CryptoKey>>();

/** Concatenates the parts, each preceded by its length in eight bytes. */
function lengthPrefixed(...parts: string[]): Uint8Array {
  const pieces = parts.flatMap((part) => {
    const bytes = text.encode(part);
    const length = new Uint8Array(8);
    new DataView(length.buffer).setBigUint64(0, BigInt(bytes.length));
    return [length, bytes];
  });
  const joined = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    joined.set(piece, at);
    at += piece.length;
  }
  return joined;
}

const decoded = (base64: string) =>
  Uint8Array.from(atob(base64.replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0));

/** The key of an account and an environment, cached per isolate. */
function keyOf(masters: string, id: string, account: string, environment: string): Promise<CryptoKey> {
  const name = `${id} ${account} ${environment}`;
  let key = keys.get(name);
  if (!key) {
    const master = masters.split(",").find((entry) => entry.startsWith(`${id}:`)) ?? "";
    const hkdf = {
      name: "HKDF",
      hash: "SHA-256",
      salt: new Uint8Array(),
      info: lengthPrefixed(FORMAT, account, environment),
    };
    key = crypto.subtle
      .importKey("raw", decoded(master.slice(id.length + 1)), "HKDF", false, ["deriveKey"])
      .then((base) => crypto.subtle.deriveKey(hkdf, base, { name: "AES-GCM", length: 256 }, false, ["decrypt"]));
    keys.set(name, key);
  }
  return key;
}

async function opened(c: Context<Environment>, sealed: string, id: string): Promise<{ token: string }> {
  const { account, environment } = c.get("principal");
  const [keyId = "", base64 = ""] = sealed.split(".");
  const bytes = decoded(base64);
  const parameters = {
    name: "AES-GCM",
    iv: bytes.subarray(0, NONCE_LENGTH),
    additionalData: lengthPrefixed(FORMAT, keyId, account, environment, "connection", id),
  };
  const key = await keyOf(c.env.VAULT_KEYS, keyId, account, environment);
  const plain = await crypto.subtle.decrypt(parameters, key, bytes.subarray(NONCE_LENGTH));
  return JSON.parse(new TextDecoder().decode(plain)).fields;
}

async function serverOf(c: Context<Environment>, platform: string): Promise<string> {
  const known = servers.get(platform) ?? (await c.env.CATALOG.get<string>(`server:${platform}`, "json"));
  if (known === null) throw new Problem("route_not_found", "The platform has no server.");
  servers.set(platform, known);
  return known;
}

export async function proxy(c: Context<Environment>): Promise<Response> {
  const id = c.req.param("id") ?? "";
  const [key, stored] = await c.env.VAULT.batch([
    c.env.VAULT.prepare(KEY_SQL).bind(c.get("hash")),
    c.env.VAULT.prepare(CREDENTIALS_SQL).bind(c.get("hash"), id),
  ]);
  const principal = principalOf(key?.results[0], c.get("secret"));
  c.set("principal", principal);
  authorize(principal, "connections:call");
  const row = stored?.results[0];
  if (!row) throw new Problem("connection_not_found", "There is no such connection.");
  const [server, { token }] = await Promise.all([serverOf(c, String(row.platform)), opened(c, String(row.sealed), id)]);
  const { pathname, search } = new URL(c.req.url);
  const path = pathname.slice(pathname.indexOf("/proxy/") + "/proxy/".length);
  if (/(^|[/\\])\.\.?([/\\;]|$)/.test(decodeURIComponent(path)))
    throw new Problem("invalid_parameter", "The path must not contain `..` segments.");
  const headers = new Headers();
  c.req.raw.headers.forEach((value, name) => {
    if (!DROPPED_REQUEST_HEADERS.has(name) && !DROPPED_REQUEST_FAMILIES.test(name)) headers.append(name, value);
  });
  headers.set("authorization", `Bearer ${token}`);
  const { method, body } = c.req.raw;
  const response = await fetch(`${server}/${path}${search}`, { method, headers, body, redirect: "manual" });
  const forwardedHeaders = new Headers({
    "cache-control": "private, no-store",
    "content-security-policy": "default-src 'none'; sandbox",
    "x-vault-source": "platform",
  });
  response.headers.forEach((value, name) => {
    if (DROPPED_RESPONSE_HEADERS.has(name) || DROPPED_RESPONSE_FAMILIES.test(name)) return;
    forwardedHeaders.append(name === "x-request-id" ? "x-platform-request-id" : name, value);
  });
  return new Response(response.body, { status: response.status, headers: forwardedHeaders });
}
