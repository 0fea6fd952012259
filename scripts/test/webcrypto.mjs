// The encryption of credentials (src/credentials/seal.rs), implemented independently with WebCrypto. Works on bytes.
const FORMAT = "connector-vault/credentials/v1";
export const NONCE_LENGTH = 12;

const encoder = new TextEncoder();

/** Concatenates the parts, each preceded by its length in eight bytes. */
function lengthPrefixed(...parts) {
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

/** Derives the key of an account and an environment. */
export async function derive(master, { account, environment }) {
  const key = await crypto.subtle.importKey("raw", master, "HKDF", false, ["deriveKey"]);
  const info = lengthPrefixed(FORMAT, account, environment);
  const hkdf = { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(), info };
  return crypto.subtle.deriveKey(hkdf, key, { name: "AES-GCM", length: 256 }, false, ["encrypt", "decrypt"]);
}

const algorithm = (keyId, { account, environment, kind, id }, iv) => ({
  ...{ name: "AES-GCM", iv, tagLength: 128 },
  additionalData: lengthPrefixed(FORMAT, keyId, account, environment, kind, id),
});

/** Encrypts a value. Returns nonce, ciphertext and tag as one byte array. */
export async function seal(key, keyId, place, iv, plain) {
  const text = await crypto.subtle.encrypt(algorithm(keyId, place, iv), key, plain);
  const bytes = new Uint8Array(iv.length + text.byteLength);
  bytes.set(iv);
  bytes.set(new Uint8Array(text), iv.length);
  return bytes;
}

/** Decrypts the result of `seal`. */
export function open(key, keyId, place, bytes) {
  const iv = bytes.subarray(0, NONCE_LENGTH);
  return crypto.subtle.decrypt(algorithm(keyId, place, iv), key, bytes.subarray(NONCE_LENGTH));
}
