// Runs every code sample and every example of the OpenAPI document.
import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { Agents } from "../support/agents.mjs";
import { PROJECT, keys } from "../support/reference.mjs";
import { connectionPath, query } from "../support/vault.mjs";

/** Operations that call a platform, which does not exist here. `calls.test.mjs` covers one. */
const CALLS = /^(runAction|proxy)/;

const LOGO = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

/** Runs all samples as modules in one process, one after the other: Node starts only once. */
class Project {
  #child;

  constructor(address) {
    // The file that the sample of `setBranding` reads: a PNG of one pixel.
    writeFileSync(join(PROJECT, "logo.png"), Buffer.from(LOGO, "base64"));
    const runner = join(PROJECT, "runner.mjs");
    writeFileSync(
      runner,
      `import { format } from "node:util";
process.on("message", async ({ file, env }) => {
  Object.assign(process.env, env);
  const lines = [];
  console.log = (...values) => lines.push(...format(...values).split("\\n"));
  const error = await import(file).then(() => undefined, (thrown) => String(thrown?.stack ?? thrown));
  process.send({ lines, error });
});
`,
    );
    this.#child = fork(runner, { cwd: PROJECT, execArgv: [], env: { PATH: process.env.PATH, VAULT_URL: address } });
  }

  /** The lines that a sample prints. */
  async printed(id, source, env) {
    writeFileSync(join(PROJECT, `${id}.mjs`), source);
    this.#child.send({ file: `./${id}.mjs`, env });
    const [{ lines, error }] = await Promise.race([
      once(this.#child, "message"),
      once(this.#child, "exit").then(([code]) => assert.fail(`${id} ended the process with ${code}`)),
    ]);
    assert.equal(error, undefined, id);
    return lines;
  }

  async [Symbol.asyncDispose]() {
    if (this.#child.exitCode !== null) return;
    this.#child.disconnect();
    await once(this.#child, "exit");
  }
}

/** Completes the request id of an agent, of which the example shows only the beginning. */
const withRequest = (text, { REQUEST }) => text.replace("ar_eyJlIjoi…", () => REQUEST);

/** @param {{ reference: import("../support/reference.mjs").Reference }} fixture */
export function referenceSamples(fixture) {
  describe("the OpenAPI document's samples and examples", () => {
    test("curl samples return what the operation describes", async () => {
      for (const [id, operation] of fixture.reference.description.operations) {
        if (CALLS.test(id)) continue;
        const [sample] = operation["x-codeSamples"].filter(({ label }) => label === "curl");
        const env = { VAULT_KEY: keys.samples.secret, ...(await fixture.reference.environment(id, keys.samples)) };
        const response = await fixture.reference.responseTo(withRequest(sample.source, env), env);
        assert.ok(response.status < 300, `${id}: ${response.text}`);
        fixture.reference.description.expect(id, response);
        // Requests are counted up to 20 seconds later.
        if (response.status !== 204 && response.json.rows && id !== "getUsage")
          assert.ok(response.json.rows.length > 0, `${id} shows a list with something in it`);
      }
    });

    test("JavaScript samples run, and print a result", async () => {
      await using project = new Project(fixture.reference.address);
      for (const [id, operation] of fixture.reference.description.operations) {
        if (CALLS.test(id)) continue;
        const [sample] = operation["x-codeSamples"].filter(({ lang }) => lang === "JavaScript");
        const env = { VAULT_KEY: keys.samples.secret, ...(await fixture.reference.environment(id, keys.samples)) };
        const lines = await project.printed(id, sample.source, env);
        assert.ok(
          lines.every((line) => line.length > 1 && !/undefined|\[object/.test(line)),
          `${id}: ${lines}`,
        );
        if (id === "deleteConnection")
          assert.equal((await fixture.reference.as(keys.samples)(connectionPath(env.ID))).status, 404);
        else if (id === "deleteOauthClient")
          assert.equal((await fixture.reference.as(keys.samples)("/v1/oauth-clients/github")).status, 404);
        else if (id === "deleteWebhook")
          assert.equal((await fixture.reference.as(keys.samples)(`/v1/webhooks/${env.WEBHOOK}`)).status, 404);
        else if (id === "deleteAgentSignIn")
          assert.equal((await fixture.reference.as(keys.samples)("/v1/agent-sign-in")).status, 404);
        else if (id === "deleteAgentGrant") {
          const { rows } = (await fixture.reference.as(keys.samples)("/v1/agent-grants")).json;
          assert.ok(
            rows.every((row) => row.id !== env.GRANT),
            "the grant has ended",
          );
        } else if (id === "signOut") {
          const who = await fixture.reference.server.send("/v1/whoami", { secret: env.VAULT_KEY });
          assert.equal(who.status, 401, "the session has ended");
        } else if (id === "deleteConsoleSession") {
          const { rows } = (await fixture.reference.as(keys.samples)("/v1/console-sessions")).json;
          assert.ok(
            rows.every((row) => row.id !== env.SESSION),
            "the session has ended",
          );
        } else if (id === "deleteConsoleSignIn")
          assert.equal((await fixture.reference.as(keys.samples)("/v1/console-sign-in")).status, 404);
        else if (id === "revokeKey") {
          const listed = await fixture.reference.as(keys.samples)("/v1/keys");
          assert.ok(listed.json.rows.find((row) => row.id === env.API_KEY).revokedAt, "the key is revoked");
        } else assert.ok(lines.length > 0 || id === "getUsage", id);
      }
    });

    test("the sample that walks all pages visits every connection once", async () => {
      const [sample] = fixture.reference.description.operations
        .get("listConnections")
        ["x-codeSamples"].filter(({ label }) => label === "curl, every page");
      const caller = keys.examples;
      for (let n = 0; n < 5; n += 1) await fixture.reference.connection(caller);
      const source = sample.source.replace("limit=100", "limit=2");
      assert.notEqual(source, sample.source);
      const text = (await fixture.reference.shell(source, { VAULT_KEY: caller.secret })).toString();
      const pages = text
        .replaceAll('}{"rows"', '}\n{"rows"')
        .split("\n")
        .map((page) => JSON.parse(page));
      assert.equal(pages.length, 3);
      assert.equal(new Set(pages.flatMap(({ rows }) => rows.map(({ id }) => id))).size, 5);
    });

    test("the introduction's commands work", async () => {
      const blocks = [...fixture.reference.description.document.info.description.matchAll(/^```(\w*)\n(.*?)^```$/gms)];
      assert.ok(blocks.length > 0);
      for (const [, language, source] of blocks) {
        assert.equal(language, "sh");
        assert.equal(
          (await fixture.reference.responseTo(source, { VAULT_KEY: keys.samples.secret })).status,
          200,
          source,
        );
      }
    });

    test("every body example is accepted, and every parameter example finds something", async () => {
      const send = fixture.reference.as(keys.examples);
      let bodies = 0;
      for (const [id, { path, method, requestBody }] of fixture.reference.description.operations) {
        if (CALLS.test(id)) continue;
        for (const { value } of Object.values(requestBody?.content["application/json"].examples ?? {})) {
          const env = await fixture.reference.environment(id, keys.examples);
          const requestPath = path.replace("{id}", env.WEBHOOK ?? env.ID).replace("{platform}", "github");
          const response = await send(requestPath, { method, body: withRequest(JSON.stringify(value), env) });
          assert.ok(response.status < 300, `${id}: ${response.text}`);
          fixture.reference.description.expect(id, response);
          bodies += 1;
        }
      }
      assert.ok(bodies > 20, `${bodies} bodies`);
      await fixture.reference.connection(keys.examples, {
        identity: "ann@example.com",
        label: "tagged",
        name: "Payments team",
        tags: ["eu", "billing"],
      });
      await fixture.reference.declined(keys.examples);
      await new Agents(fixture.reference.server, keys.examples.secret).grant("team-42");
      const bot = { method: "PUT", body: JSON.stringify({ clientId: "example-bot" }) };
      assert.ok((await send("/v1/oauth-clients/github?name=bot", bot)).status < 300);
      let examples = 0;
      for (const [id, { path, parameters = [] }] of fixture.reference.description.operations) {
        if (CALLS.test(id) || id === "getUsage") continue;
        const exampleOf = (expected) => parameters.find(({ name }) => name === expected)?.schema.examples[0];
        const requestPath = path
          .replace("{platform}", () => exampleOf("platform"))
          .replace("{key}", () => exampleOf("key"));
        for (const parameter of parameters) {
          const [example] = parameter.schema?.examples ?? [];
          if (example === undefined) continue;
          const needed = parameters.filter((parameter) => parameter.in === "query" && parameter.required);
          const all = Object.fromEntries(needed.map(({ name, schema }) => [name, schema.examples[0]]));
          const requested = parameter.in === "query" ? { ...all, [parameter.name]: example } : all;
          const filter = Object.keys(requested).length > 0 ? `?${query(requested)}` : "";
          const response = await send(requestPath + filter);
          assert.equal(response.status, 200, `${id} ${parameter.name}: ${response.text}`);
          const rows = response.json.rows ?? [response.json];
          assert.ok(rows.length > 0, `${id} ${parameter.name}=${example} finds nothing`);
          examples += 1;
        }
      }
      assert.ok(examples > 30, `${examples} examples`);
    });
  });
}
