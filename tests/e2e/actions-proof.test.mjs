// Actions of real platforms, compared with npm's `swagger-client` and Prism. `npm run actions:proof` takes many more.
import assert from "node:assert/strict";
import { test } from "node:test";
import { judgedRequests, proveActions } from "./support/actions-proof.mjs";
import { judgedAnswers, proveRandom } from "./support/random-proof.mjs";

test("what an action sends is what an independent client sends for its document's examples", async () => {
  const found = await proveActions({ platforms: 15 });
  const { lines, isProven } = judgedRequests(found);
  assert.ok(found.platforms === 15 && found.actions > 60, lines.join("\n"));
  assert.ok(isProven, lines.join("\n"));
});

test("a platform takes the random inputs that the service takes, and the service refuses what the platform would", async () => {
  const found = await proveRandom({ platforms: 8, each: 5, seed: 2026 });
  const { lines, isProven } = judgedAnswers(found);
  assert.ok(found.platforms === 8 && found.valid >= 40 && found.refused > 20, lines.join("\n"));
  assert.ok(isProven, lines.join("\n"));
});
