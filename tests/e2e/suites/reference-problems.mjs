// Runs the examples on the pages about error codes: each fails as its page describes, and succeeds after the fix on that page.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { PROBLEM_CODES, EXAMPLES, JSON_TYPE, keys } from "../support/reference.mjs";
import { CONNECTIONS } from "../support/vault.mjs";

/** @param {{ reference: import("../support/reference.mjs").Reference }} fixture */
export function problemExamples(fixture) {
  describe("the examples on the pages about error codes", () => {
    /** Whether a response matches a page's example: `…` stands for any string, and a list may contain more. */
    function shows(shown, response) {
      if (typeof shown === "string")
        return new RegExp(
          `^${shown
            .split("…")
            .map((part) => part.replace(/[$^*+?.()|{}[\]\\]/g, "\\$&"))
            .join(".+")}$`,
          "s",
        ).test(response);
      if (Array.isArray(shown))
        return (
          (typeof shown[0] === "string" || shown.length === response.length) &&
          shown.every((item, at) => shows(item, response[at]))
        );
      return Object.entries(shown).every(([name, value]) => shows(value, response[name]));
    }

    for (const [code, { request, answer: response, right }] of Object.entries(EXAMPLES)) {
      test(code, async () => {
        const caller = keys.problems;
        const env = {
          VAULT_KEY: caller.secret,
          CATALOG_KEY: keys.scopeless.secret,
          ...(await fixture.reference.connection(caller)),
        };
        await fixture.reference.connect(caller, (await fixture.reference.connection(caller)).ID);
        Object.assign(env, await fixture.reference.attempt(caller));
        if (code === "credentials_held") await fixture.reference.connect(caller, env.ID);
        if (code === "query_too_broad") {
          env.VAULT_URL = `http://127.0.0.1:${fixture.reference.strict.port}`;
          for (const identity of Array.from({ length: 60 }, (_, index) => `broad-${index}`)) {
            const body = JSON.stringify({
              platform: "github",
              identity,
              identityType: "user",
              tags: ["eu", "billing"],
            });
            const creation = await fixture.reference.strict.send(CONNECTIONS, {
              method: "POST",
              secret: caller.secret,
              headers: [JSON_TYPE],
              body,
            });
            assert.equal(creation.status, 201, creation.text);
          }
        }
        if (code === "connection_exists") await fixture.reference.connection(caller, { identity: "eve@example.com" });
        const refused = await fixture.reference.responseTo(request, env);
        assert.equal(refused.header("content-type"), "application/problem+json");
        assert.ok(shows(JSON.parse(response), refused.json), `${response}\n${refused.text}`);
        assert.equal(refused.json.code, code);
        const success = await fixture.reference.responseTo(right, env);
        assert.ok(success.status < 300, success.text);
      });
    }

    test("cover every error that one request can cause", () => {
      const without = PROBLEM_CODES.filter((code) => !(code in EXAMPLES));
      assert.deepEqual(without, [
        "connection_failed",
        "awaiting_cut_over",
        "not_checkable",
        "not_refreshable",
        "oauth_client_limit",
        "connection_limit",
        "webhook_limit",
        "webhook_inactive",
        "key_limit",
        "key_inactive",
        "body_too_large",
        "account_mismatch",
        "too_many_requests",
        "internal",
        "platform_unreachable",
        "refresh_failed",
        "unavailable",
        "platform_timeout",
        "vault_full",
      ]);
    });
  });
}
