// Checks what arrives at a webhook: Standard Webhooks, by Web Crypto, which Node, Deno, Bun, Workers and browsers have.
import { VaultError } from "../core/errors.js";
import type { EventOf, VaultEvent } from "./events.js";
import { isOf } from "../core/realm.js";

/** What `webhooks.test` sends. */
export type WebhookTestEvent = Omit<EventOf<never, { webhook: { id: string } }>, "type"> & { type: "webhook.test" };

/** A request of which the body has been read already, as frameworks for Node have it. */
export interface WebhookRequest {
  /** The headers, by name, or a `Headers`. */
  headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The body as it arrived: not parsed and written again, which would change it. */
  body: string | Uint8Array;
}

/** How strict to be. */
export interface VerifyOptions {
  /** How many seconds a request may be old, or ahead of the clock. Default: 300. */
  toleranceSeconds?: number | undefined;
}

const PREFIX = "whsec_";
const DEFAULT_TOLERANCE_SECONDS = 300;

/**
 * Returns the event that a webhook has received, if the service has sent it: if a secret has signed it, and not long ago. An
 * event can arrive more than once: its `id` is the same each time.
 *
 * @param request the request, whose body nobody has read yet; or its headers and its body as it arrived
 * @param secret what `webhooks.create` or `rotate` returned; several while one replaces another
 * @throws {VaultError} with the code `invalid_signature` if the service has not sent it; answer with a 400 then
 */
export async function verifyWebhook(
  request: Request | WebhookRequest,
  secret: string | readonly string[],
  { toleranceSeconds = DEFAULT_TOLERANCE_SECONDS }: VerifyOptions = {},
): Promise<VaultEvent | WebhookTestEvent> {
  const [id, sent, signatures] = ["id", "timestamp", "signature"].map((name) => header(request, `webhook-${name}`));
  if (!id || !sent || !signatures) throw refused("it lacks a header `webhook-id`, `-timestamp` or `-signature`");
  const age = Date.now() / 1000 - Number(sent);
  if (!/^\d+$/.test(sent) || !(Math.abs(age) <= toleranceSeconds)) throw refused("its time is not that of now");
  const body = await bodyOf(request);
  const signed = joined(new TextEncoder().encode(`${id}.${sent}.`), body);
  const keys = await Promise.all((typeof secret === "string" ? [secret] : secret).map(keyOf));
  const checks = signatures.split(" ").flatMap((one) => {
    const bytes = one.startsWith("v1,") ? fromBase64(one.slice(3)) : undefined;
    return bytes ? keys.map((key) => crypto.subtle.verify("HMAC", key, bytes, signed)) : [];
  });
  if (!(await Promise.all(checks)).includes(true)) throw refused("no secret has signed it");
  return JSON.parse(new TextDecoder().decode(body));
}

const refused = (why: string) =>
  new VaultError(`The request does not come from the service: ${why}.`, { code: "invalid_signature" });

function header({ headers }: Request | WebhookRequest, name: string): string | undefined {
  if (typeof (headers as Headers).get === "function") return (headers as Headers).get(name) ?? undefined;
  const found = Object.entries(headers).find(([known]) => known.toLowerCase() === name)?.[1];
  return typeof found === "string" ? found : found?.[0];
}

async function bodyOf(request: Request | WebhookRequest): Promise<Uint8Array<ArrayBuffer>> {
  if ("arrayBuffer" in request) return new Uint8Array(await request.arrayBuffer());
  const { body } = request;
  if (typeof body === "string") return new TextEncoder().encode(body);
  if (isOf("Uint8Array", body)) return new Uint8Array(body);
  throw new VaultError("`body` must be the text or the bytes that arrived, not what was parsed from them.", {
    code: "invalid_argument",
  });
}

function keyOf(secret: string): Promise<CryptoKey> {
  const bytes = typeof secret === "string" ? fromBase64(secret.replace(PREFIX, "")) : undefined;
  if (!bytes?.length) throw new VaultError("`secret` must begin with `whsec_`.", { code: "invalid_argument" });
  return crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
}

/** The bytes of a base64 text; undefined if it is none. */
function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function joined(one: Uint8Array, other: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(one.length + other.length);
  bytes.set(one);
  bytes.set(other, one.length);
  return bytes;
}
