// The Worker of `npm run lab -- bench-sealing`: encrypts or decrypts a value repeatedly, with the service's own code or with
// WebCrypto. The module `given` has the value, and decides whether to decrypt it once during startup, as the service does.
import { keyId, master, place, plain, rehearses, sealed } from "given";
import * as rustcrypto from "glue";
import * as webcrypto from "../../scripts/test/webcrypto.mjs";

const KEYS = `${keyId}:${master}`;
const BASE64URL = { alphabet: "base64url", omitPadding: true };
const [encoder, decoder] = [new TextEncoder(), new TextDecoder()];

const derive = () => webcrypto.derive(Uint8Array.fromBase64(master), place);

async function sealWith(key) {
  const iv = crypto.getRandomValues(new Uint8Array(webcrypto.NONCE_LENGTH));
  const bytes = await webcrypto.seal(key, keyId, place, iv, encoder.encode(plain));
  return `${keyId}.${bytes.toBase64(BASE64URL)}`;
}

async function openWith(key, text) {
  const bytes = Uint8Array.fromBase64(text.slice(text.indexOf(".") + 1), BASE64URL);
  return decoder.decode(await webcrypto.open(key, keyId, place, bytes));
}

/** Runs `once` this many times in sequence. Returns the last result. */
async function repeat(times, once) {
  let last;
  for (let done = 0; done < times; done += 1) last = await once();
  return last;
}

/** The implementations by name. `kept` derives the key once and caches it. */
const IMPLEMENTATIONS = {
  rustcrypto: {
    seal: (times) => rustcrypto.seal(KEYS, place.account, place.id, plain, times),
    open: (times, text = sealed) => rustcrypto.open(KEYS, place.account, place.id, text, times),
  },
  webcrypto: {
    seal: (times) => repeat(times, async () => sealWith(await derive())),
    open: (times, text = sealed) => repeat(times, async () => openWith(await derive(), text)),
  },
  kept: {
    seal: async (times) => {
      const key = await derive();
      return repeat(times, () => sealWith(key));
    },
    open: async (times, text = sealed) => {
      const key = await derive();
      return repeat(times, () => openWith(key, text));
    },
  },
  nothing: { seal: () => "", open: () => "" },
};

if (rehearses) IMPLEMENTATIONS.rustcrypto.open(1);

/** Whether the service's own code and WebCrypto can decrypt each other's results. */
async function agree() {
  const opened = [
    await IMPLEMENTATIONS.webcrypto.open(1, IMPLEMENTATIONS.rustcrypto.seal(1)),
    IMPLEMENTATIONS.rustcrypto.open(1, await IMPLEMENTATIONS.webcrypto.seal(1)),
  ];
  return opened.every((text) => text === plain);
}

export default {
  async fetch(request) {
    const [, way, what, times] = new URL(request.url).pathname.split("/");
    return new Response(way === "agree" ? String(await agree()) : await IMPLEMENTATIONS[way][what](Number(times)));
  },
};
