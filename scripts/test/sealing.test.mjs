// Credentials are sealed as docs/operating.md says, and WebCrypto, which shares no code with the Worker, agrees: it seals and
// opens the texts of tests/fixtures/sealed.json, as src/credentials/tests.rs does. To write their `sealed` again:
//   WRITE_SEALED=1 node --test scripts/test/sealing.test.mjs
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { root } from "../lib/paths.mjs";

const FORMAT = "connector-vault/credentials/v1";
const NONCE_LENGTH = 12;
const FILE = join(root, "tests", "fixtures", "sealed.json");
const { keys, cases } = JSON.parse(readFileSync(FILE, "utf8"));
const { subtle } = crypto;

/** The parts, each after its length in eight bytes. */
function apart(...parts) {
  const pieces = parts.map((part) => Buffer.from(part));
  return Buffer.concat(
    pieces.flatMap((piece) => {
      const length = Buffer.alloc(8);
      length.writeBigUInt64BE(BigInt(piece.length));
      return [length, piece];
    }),
  );
}

/** The key of an account and an environment, and what a text is sealed with there. */
async function cipher(keyId, { account, environment, kind, id }, iv) {
  const [, base64] = keys
    .split(",")
    .map((entry) => entry.split(":"))
    .find(([known]) => known === keyId);
  const master = await subtle.importKey("raw", Buffer.from(base64, "base64"), "HKDF", false, ["deriveKey"]);
  const hkdf = {
    ...{ name: "HKDF", hash: "SHA-256", salt: new Uint8Array() },
    info: apart(FORMAT, account, environment),
  };
  const algorithm = { name: "AES-GCM", length: 256 };
  const key = await subtle.deriveKey(hkdf, master, algorithm, false, ["encrypt", "decrypt"]);
  const additionalData = apart(FORMAT, keyId, account, environment, kind, id);
  return [{ name: "AES-GCM", iv, additionalData, tagLength: 128 }, key];
}

async function seal({ key, place, nonce, plain }) {
  const iv = Buffer.from(nonce, "base64");
  const text = await subtle.encrypt(...(await cipher(key, place, iv)), Buffer.from(plain));
  return `${key}.${Buffer.concat([iv, Buffer.from(text)]).toString("base64url")}`;
}

async function open({ place, sealed }) {
  const [keyId, text] = sealed.split(".");
  const bytes = Buffer.from(text, "base64url");
  const parameters = await cipher(keyId, place, bytes.subarray(0, NONCE_LENGTH));
  return Buffer.from(await subtle.decrypt(...parameters, bytes.subarray(NONCE_LENGTH))).toString();
}

describe("what the vault seals", () => {
  if (process.env.WRITE_SEALED) {
    test("is written", async () => {
      for (const one of cases) one.sealed = await seal(one);
      writeFileSync(FILE, `${JSON.stringify({ keys, cases }, null, 2)}\n`);
    });
  }
  for (const one of cases) {
    test(`is opened and sealed by WebCrypto: ${one.name}`, async () => {
      assert.equal(await open(one), one.plain);
      assert.equal(await seal(one), one.sealed);
    });
  }
});
