// The Python package against the real runtime: its own tests in python/tests, with a platform that is called, the demo
// platform, and a user who connects an account there.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { CLIENT } from "../../scripts/demo-notes/oauth.mjs";
import { openApi, overrides } from "../../scripts/demo-notes/description.mjs";
import { DemoNotes } from "../../scripts/demo-notes/server.mjs";
import { root } from "../../scripts/lib/paths.mjs";
import { packageProgram } from "../../scripts/lib/python-package.mjs";
import { run } from "../../scripts/lib/run.mjs";
import { Platform, documentAt } from "./support/called.mjs";
import { App } from "./support/connecting.mjs";
import { secrets } from "./support/http.mjs";
import { ALL_SCOPES, key, store } from "./support/keys.mjs";
import { listen, readBody } from "./support/listening.mjs";
import { connectionNumber } from "./support/seed.mjs";
import { SESSION_SECRET, Server } from "./support/server.mjs";
import { Visitor } from "./support/visitor.mjs";
import { seed } from "./support/vault.mjs";
import { State, build, cli, folder } from "./support/workspace.mjs";

const PLATFORM_TOKEN = "good";

describe("the Python package", () => {
  const [many, few, reader] = ["python-many", "python-few", "python-readme"].map((account) =>
    key({ account, scopes: ALL_SCOPES }),
  );
  let [called, notes, server, visits] = [];

  /** Follows a connect link as its user, who allows or denies everything at the demo platform. */
  async function followConnectLink(link, response) {
    const visitor = new Visitor();
    const there = (await visitor.submit(link)).header("location");
    const form = response === "deny" ? { answer: response } : { person: "ben", scope: "notes:read", answer: "allow" };
    const back = await visitor.submit(there, form);
    await visitor.follow(back, there);
  }

  before(async () => {
    await build();
    called = await Platform.start();
    notes = await DemoNotes.start({ file: join(folder, "python-notes.json"), ports: [0] });
    const sources = join(folder, "python-documents");
    mkdirSync(sources, { recursive: true });
    const config = join(folder, "python-catalog.toml");
    writeFileSync(join(sources, "called.json"), JSON.stringify(documentAt(called.origin)));
    writeFileSync(join(sources, "notes.json"), JSON.stringify(openApi(notes.origin)));
    writeFileSync(config, overrides(notes.origin));
    const catalog = { path: join(folder, "python-catalog") };
    await cli(
      ...["catalog", "import", sources, "--licence", "any", "--no-providers", "--config", config, "--out"],
      catalog.path,
    );
    const state = new State("python");
    await state.prepare(catalog);
    await state.use(async ({ vault }) => {
      await store(vault, [many, few, reader]);
      await seed(
        vault,
        many.row.account,
        Array.from({ length: 230 }, (_, n) => ({ ...connectionNumber(n), active: true })),
      );
    });
    const vaultKey = randomBytes(32).toString("base64");
    secrets.add(vaultKey);
    server = await Server.start(state, {
      name: "python",
      variables: { LOCAL_TARGETS: "allow" },
      secrets: { SESSION_SECRET, VAULT_KEYS: `tests:${vaultKey}` },
    });
    notes.register(`http://127.0.0.1:${server.port}`);
    for (const apiKey of [many, few, reader]) {
      const client = { clientId: CLIENT.id, scopes: ["notes:read"] };
      await new App(() => server, apiKey).expect(201, "PUT", "/v1/oauth-clients/demo-notes", client);
    }
    visits = createServer(async (request, response) => {
      const { link, answer: reply } = JSON.parse(await readBody(request));
      await followConnectLink(link, reply).then(
        () => response.end(),
        (error) => response.writeHead(500).end(error.stack),
      );
    });
    visits.port = await listen(visits);
  });

  after(async () => {
    visits?.close();
    visits?.closeAllConnections();
    await Promise.all([server?.stop(), called?.stop(), notes?.close()]);
  });

  test("the Python package passes its own tests", async () => {
    const env = {
      PYTHONPATH: join(root, "python", "src"),
      PYTHONDONTWRITEBYTECODE: "1",
      VAULT_URL: `http://127.0.0.1:${server.port}`,
      VAULT_KEY: many.secret,
      // Separate accounts, whose connections no other test counts.
      README_KEY: reader.secret,
      AGENTS_KEY: few.secret,
      NOTES_KEY: notes.state.keys.ada,
      SECOND_NOTES_KEY: notes.state.keys.ben,
      PLATFORM_TOKEN,
      PLATFORM_URL: called.origin,
      VISITOR_URL: `http://127.0.0.1:${visits.port}`,
    };
    const options = { cwd: join(root, "python"), env };
    // Another Python, such as `python3.13`, with the package's dependencies and pytest, but without the libraries of
    // agents.
    const { CONNECTOR_VAULT_PYTHON: other } = process.env;
    const python = other ?? (await packageProgram("python"));
    const args = ["-m", "pytest", "-q", ...(other ? ["--ignore", "tests/test_agents.py"] : [])];
    const output = await run(python, args, options);
    assert.match(output, /^\d+ passed in/m);
  });
});
