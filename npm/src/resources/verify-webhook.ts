// Verifies webhook requests (Standard Webhooks) with Web Crypto, which Node, Deno, Bun, Workers and browsers support.
import { VaultError } from "../core/errors.js";
import type { EventOf, VaultEvent } from "./events.js";
import { isInstanceOf } from "../core/realm.js";

/** The event that `webhooks.test` sends. */
export type WebhookTestEvent = Omit<EventOf<never, { webhook: { id: string } }>, "type"> & { type: "webhook.test" };

/** A request whose body was already read, for example by a Node framework. */
export interface WebhookRequest {
  headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The exact body. Parsed and serialized JSON can have different bytes, so its signature is invalid. */
  body: string | Uint8Array;
}

export interface VerifyOptions {
  /** The maximum difference between the timestamp and the clock, in seconds. Default: 300. */
  toleranceSeconds?: number | undefined;
}

const SECRET_PREFIX = "whsec_";
const DEFAULT_TOLERANCE_SECONDS = 300;

/**
 * Verifies the signature and timestamp of a webhook request, and returns its event. An event can arrive more than once,
 * always with the same `id`.
 *
 * @param request a request whose body was not read yet, or the headers and the exact body
 * @param secret the secret from `webhooks.create` or `webhooks.rotate`; both secrets during a rotation
 * @throws {VaultError} with the code `invalid_signature` if the signature or timestamp is invalid; respond with 400
 */
export async function verifyWebhook(
  request: Request | WebhookRequest,
  secret: string | readonly string[],
  { toleranceSeconds = DEFAULT_TOLERANCE_SECONDS }: VerifyOptions = {},
): Promise<VaultEvent | WebhookTestEvent> {
  const [id, timestamp, signatures] = ["id", "timestamp", "signature"].map((name) =>
    header(request, `webhook-${name}`),
  );
  if (!id || !timestamp || !signatures)
    throw signatureError("it lacks a header `webhook-id`, `-timestamp` or `-signature`");
  const age = Date.now() / 1000 - Number(timestamp);
  if (!/^\d+$/.test(timestamp) || !(Math.abs(age) <= toleranceSeconds))
    throw signatureError("its timestamp is outside the tolerance");
  const body = await readBody(request);
  const signedContent = concatenate(new TextEncoder().encode(`${id}.${timestamp}.`), body);
  const keys = await Promise.all((typeof secret === "string" ? [secret] : secret).map(toCryptoKey));
  const checks = signatures.split(" ").flatMap((signature) => {
    const bytes = signature.startsWith("v1,") ? decodeBase64(signature.slice(3)) : undefined;
    return bytes ? keys.map((key) => crypto.subtle.verify("HMAC", key, bytes, signedContent)) : [];
  });
  if (!(await Promise.all(checks)).includes(true)) throw signatureError("its signature matches no secret");
  return JSON.parse(new TextDecoder().decode(body));
}

const signatureError = (why: string) =>
  new VaultError(`The request does not come from the service: ${why}.`, { code: "invalid_signature" });

function header({ headers }: Request | WebhookRequest, name: string): string | undefined {
  if (typeof (headers as Headers).get === "function") return (headers as Headers).get(name) ?? undefined;
  const value = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  return typeof value === "string" ? value : value?.[0];
}

async function readBody(request: Request | WebhookRequest): Promise<Uint8Array<ArrayBuffer>> {
  if ("arrayBuffer" in request) return new Uint8Array(await request.arrayBuffer());
  const { body } = request;
  if (typeof body === "string") return new TextEncoder().encode(body);
  if (isInstanceOf("Uint8Array", body)) return new Uint8Array(body);
  throw new VaultError("`body` must be the string or the bytes as received, not a parsed value.", {
    code: "invalid_argument",
  });
}

function toCryptoKey(secret: string): Promise<CryptoKey> {
  const bytes = typeof secret === "string" ? decodeBase64(secret.replace(SECRET_PREFIX, "")) : undefined;
  if (!bytes?.length) throw new VaultError("`secret` must begin with `whsec_`.", { code: "invalid_argument" });
  return crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
}

/** Decodes base64. Returns undefined if it is invalid. */
function decodeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function concatenate(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(first.length + second.length);
  bytes.set(first);
  bytes.set(second, first.length);
  return bytes;
}
