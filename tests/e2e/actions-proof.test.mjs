// Actions of real platforms, compared with npm's `swagger-client`. `npm run actions:proof` takes many more.
import assert from "node:assert/strict";
import { test } from "node:test";
import { judgedRequests, proveActions } from "./support/actions-proof.mjs";

test("what an action sends is what an independent client sends for its document's examples", async () => {
  const found = await proveActions({ platforms: 15 });
  const { lines, isProven } = judgedRequests(found);
  assert.ok(found.platforms === 15 && found.actions > 60, lines.join("\n"));
  assert.ok(isProven, lines.join("\n"));
});
