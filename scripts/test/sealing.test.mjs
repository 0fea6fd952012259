// Checks the encryption of credentials, which docs/operating.md describes, against an independent implementation with WebCrypto: it
// encrypts and decrypts the values of tests/fixtures/sealed.json, as src/credentials/tests.rs does. To regenerate `sealed`:
//   WRITE_SEALED=1 node --test scripts/test/sealing.test.mjs
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import * as webcrypto from "./webcrypto.mjs";
import { root } from "../lib/paths.mjs";

const FILE = join(root, "tests", "fixtures", "sealed.json");
const { keys, cases } = JSON.parse(readFileSync(FILE, "utf8"));

/** The bytes of a vault key. */
function master(keyId) {
  const [, base64] = keys
    .split(",")
    .map((entry) => entry.split(":"))
    .find(([known]) => known === keyId);
  return Buffer.from(base64, "base64");
}

async function seal({ key: keyId, place, nonce, plain }) {
  const key = await webcrypto.derive(master(keyId), place);
  const bytes = await webcrypto.seal(key, keyId, place, Buffer.from(nonce, "base64"), Buffer.from(plain));
  return `${keyId}.${Buffer.from(bytes).toString("base64url")}`;
}

async function open({ place, sealed }) {
  const [keyId, text] = sealed.split(".");
  const key = await webcrypto.derive(master(keyId), place);
  return Buffer.from(await webcrypto.open(key, keyId, place, Buffer.from(text, "base64url"))).toString();
}

describe("encrypted credentials", () => {
  if (process.env.WRITE_SEALED) {
    test("are regenerated", async () => {
      for (const example of cases) example.sealed = await seal(example);
      writeFileSync(FILE, `${JSON.stringify({ keys, cases }, null, 2)}\n`);
    });
  }
  for (const example of cases) {
    test(`are encrypted and decrypted by WebCrypto: ${example.name}`, async () => {
      assert.equal(await open(example), example.plain);
      assert.equal(await seal(example), example.sealed);
    });
  }
});
