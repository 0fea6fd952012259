// What schemathesis makes up from the OpenAPI document. `npm run schemathesis` makes up more.
import assert from "node:assert/strict";
import { test } from "node:test";
import { schemathesis } from "./support/schemathesis.mjs";

test("every operation answers as the OpenAPI document says, whatever it is asked", async () => {
  const said = await schemathesis({ examples: 5, seed: 2026 });
  const [, tested] = /Tested: (\d+)/.exec(said) ?? [];
  const [, generated] = /(\d+) generated/.exec(said) ?? [];
  assert.ok(Number(tested) > 40 && Number(generated) > 1000, said);
});
