// The vault's sealing (src/credentials/seal.rs) by WebCrypto, which shares no code with it. Works on bytes; whoever uses it
// knows how to write them.
const FORMAT = "connector-vault/credentials/v1";
export const NONCE_LENGTH = 12;

const encoder = new TextEncoder();

/** The parts, each after its length in eight bytes. */
function apart(...parts) {
  const texts = parts.map((part) => encoder.encode(part));
  const bytes = new Uint8Array(texts.reduce((sum, text) => sum + 8 + text.length, 0));
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const text of texts) {
    view.setBigUint64(at, BigInt(text.length));
    bytes.set(text, at + 8);
    at += 8 + text.length;
  }
  return bytes;
}

/** The key of an account and an environment. */
export async function derive(master, { account, environment }) {
  const key = await crypto.subtle.importKey("raw", master, "HKDF", false, ["deriveKey"]);
  const info = apart(FORMAT, account, environment);
  const hkdf = { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(), info };
  return crypto.subtle.deriveKey(hkdf, key, { name: "AES-GCM", length: 256 }, false, ["encrypt", "decrypt"]);
}

const algorithm = (keyId, { account, environment, kind, id }, iv) => ({
  ...{ name: "AES-GCM", iv, tagLength: 128 },
  additionalData: apart(FORMAT, keyId, account, environment, kind, id),
});

/** Nonce, ciphertext and tag. */
export async function seal(key, keyId, place, iv, plain) {
  const text = await crypto.subtle.encrypt(algorithm(keyId, place, iv), key, plain);
  const bytes = new Uint8Array(iv.length + text.byteLength);
  bytes.set(iv);
  bytes.set(new Uint8Array(text), iv.length);
  return bytes;
}

/** What `seal` sealed. */
export function open(key, keyId, place, bytes) {
  const iv = bytes.subarray(0, NONCE_LENGTH);
  return crypto.subtle.decrypt(algorithm(keyId, place, iv), key, bytes.subarray(NONCE_LENGTH));
}
