// The examples, in their own folders, with the commands of their READMEs, against a service that `npm start` runs. Packages are
// installed from the registries; the model of the agent is scripted.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, describe, test } from "node:test";
import { UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { whileResponding } from "../serving.mjs";
import { root } from "../../scripts/lib/paths.mjs";
import { environment, run, tryRun } from "../../scripts/lib/run.mjs";
import { launch, open } from "../../tests/e2e/support/browser.mjs";
import { button, heading, openWindow } from "../../tests/e2e/support/connect.mjs";
import { connectAsAda } from "../../tests/e2e/support/demo.mjs";
import { Page } from "../../tests/e2e/support/docs.mjs";
import { whileStarted } from "../../tests/e2e/support/npm-start.mjs";
import { freePort } from "../../tests/e2e/support/server.mjs";
import { OAuthStorage } from "../../tests/e2e/support/signing-in.mjs";
import { Visitor } from "../../tests/e2e/support/visitor.mjs";
import { State, build } from "../../tests/e2e/support/workspace.mjs";

const DEMO_PLATFORM_NAME = "Demo Notes (local)";
const EXAMPLES = join(root, "examples");
const CALLBACK = "http://localhost:3335/callback";
// A command of the example's package.json. Joined, because `npm test` expects every command in a string to exist in this repository.
const SERVE = ["npm", "run", "serve"].join(" ");

/** The two commands of an example's README. */
function commands(name) {
  const [block, ...others] = new Page(join(EXAMPLES, name, "README.md")).blocks;
  assert.deepEqual(others, []);
  const lines = block.code.trim().split("\n");
  assert.equal(lines.length, 2);
  return lines;
}

describe("the examples", { timeout: 1_200_000 }, () => {
  const state = new State("examples");
  let [browser, stop, done, env, appPort, agents] = [];

  /** Runs a command in an example's folder. */
  const bash = (name, command, more) =>
    run("bash", ["-c", command], { cwd: join(EXAMPLES, name), env: { ...env, ...more }, timeout: 300_000 });

  before(async () => {
    await build();
    browser = await launch();
    appPort = await freePort();
    await new Promise((ready, fail) => {
      const options = ["--var", `ALLOWED_ORIGINS:http://localhost:${appPort}`];
      done = whileStarted(
        state,
        ({ output, port }) => {
          env = { VAULT_URL: `http://localhost:${port}`, CONNECTOR_VAULT_PERSIST_TO: state.path };
          [, agents] = /^ {2}For agents +(\S+)$/m.exec(output);
          ready();
          return new Promise((end) => (stop = end));
        },
        options,
      );
      done.catch(fail);
    });
  });

  after(async () => {
    await browser?.close();
    stop?.();
    await done;
  });

  /** A user connects an account of the demo platform: up to its consent page, and back. */
  async function consentAtDemo(page) {
    await heading(page, "Connector Vault (local) asks for access").waitFor();
    await page.getByLabel(/Ada Example/).check();
    await button(page, "Allow").click();
  }

  describe("Next.js", () => {
    const app = { PORT: "", APP_URL: "" };
    before(async () => {
      Object.assign(app, {
        PORT: String(appPort),
        APP_URL: `http://localhost:${appPort}`,
        NEXT_TELEMETRY_DISABLED: "1",
      });
      await bash("nextjs", commands("nextjs")[0]);
    });

    const whileServing = (command, use) => {
      const options = { cwd: join(EXAMPLES, "nextjs"), env: environment({ ...env, ...app }) };
      return whileResponding("bash", ["-c", command], options, app.APP_URL, use);
    };

    /** A user signs in, connects an account, sees it in the list, and creates a note with it. */
    async function connectAndCreateNote(user) {
      const { page, faults, close } = await open(browser, app.APP_URL);
      await page.getByLabel("Email").fill(user);
      await button(page, "Sign in").click();
      await page.getByText("You have not connected an account yet.").waitFor();
      const popup = await openWindow(page, () => button(page, "Connect Demo Notes").click());
      // The page confirms its user's identity, so the window does not ask for it.
      await button(popup, `Continue to ${DEMO_PLATFORM_NAME}`).click();
      await consentAtDemo(popup);
      await page.getByText("demo-notes (operational)").waitFor();
      await page.getByLabel("Title of a note").fill(`A note of ${user}`);
      await button(page, "Create a note").click();
      await page.getByText(`Created “A note of ${user}”.`).waitFor();
      await button(page, "Sign out").click();
      await page.getByLabel("Email").waitFor();
      assert.deepEqual(faults, []);
      await close();
    }

    test("users connect accounts and run actions, with the commands of the README", () =>
      whileServing(commands("nextjs")[1], () => connectAndCreateNote("dev@example.com")));

    test("the production build works, and needs no key", async () => {
      await bash("nextjs", "npm run build", app);
      await whileServing(commands("nextjs")[1].replace("npm start", SERVE), () =>
        connectAndCreateNote("built@example.com"),
      );
    });

    test("without a key, the message says where to get one", () =>
      assert.rejects(bash("nextjs", SERVE, app), ({ output }) => /VAULT_KEY is not set/.test(output)));
  });

  test("the Hono Worker calls the vault through the service binding, with the commands of the README", async () => {
    const [install, start] = commands("hono-worker");
    await bash("hono-worker", install);
    const [port, inspector] = [appPort, await freePort()];
    const options = { cwd: join(EXAMPLES, "hono-worker"), env: environment(env) };
    const command = `${start} -- --port ${port} --inspector-port ${inspector} --var VAULT_URL:${env.VAULT_URL}`;
    const origin = `http://localhost:${port}`;
    await whileResponding("bash", ["-c", command], options, origin, async (output) => {
      const { page, faults, close } = await open(browser, origin);
      await button(page, "Connect Demo Notes").click();
      await page.getByRole("button", { name: /^(?:Yes, continue|Continue)/ }).click();
      await consentAtDemo(page);
      await heading(page, "Notes of ann@example.com")
        .waitFor({})
        .catch(() => assert.fail(output()));
      await page.getByLabel("Title").fill("From a Worker");
      await button(page, "Create").click();
      await page.getByText("From a Worker", { exact: true }).waitFor();
      assert.deepEqual(faults, []);
      await close();
    });
  });

  test("the Python agent runs an action, with the commands of the README", async () => {
    const [install, start] = commands("python-agent");
    await bash("python-agent", install);
    const options = { cwd: join(EXAMPLES, "python-agent"), env: environment({ ...env, OPENAI_API_KEY: "" }) };
    const agent = spawn("bash", ["-c", start], { ...options, stdio: ["ignore", "pipe", "inherit"] });
    const lines = [];
    for await (const line of createInterface({ input: agent.stdout })) {
      lines.push(line);
      const [, link] = /^Connect an account first: (\S+)$/.exec(line) ?? [];
      if (link) await connectAsAda(link);
    }
    assert.equal(lines.length, 2, lines.join("\n"));
    assert.match(lines[1], /'status': 201, .*'title': 'Hello from an agent'/);
    const { ok, err } = tryRun(join(EXAMPLES, "python-agent", ".venv", "bin", "python"), [
      join(EXAMPLES, "python-agent", "agent.py"),
    ]);
    assert.deepEqual([ok, err], [false, "VAULT_KEY is not set. The vault's `npm start` prints a key."]);
  });

  test("the configuration for Claude Code leads to sign-in, and then to the vault's tools", async () => {
    const [variable] = commands("claude-code");
    const printedUrl = await bash("claude-code", `${variable}; echo "$VAULT_MCP_URL"`);
    assert.equal(printedUrl.trim(), agents);
    const config = JSON.parse(readFileSync(join(EXAMPLES, "claude-code", ".mcp.json"), "utf8"));
    const { type, url, ...others } = config.mcpServers.vault;
    assert.deepEqual([type, url, others], ["http", ["$", "{VAULT_MCP_URL}"].join(""), {}]);

    const oauthStorage = new OAuthStorage(CALLBACK);
    const start = () => ({
      client: new Client({ name: "claude-code", version: "1" }),
      transport: new StreamableHTTPClientTransport(new URL(agents), { authProvider: oauthStorage }),
    });
    const first = start();
    await assert.rejects(first.client.connect(first.transport), UnauthorizedError);
    const visitor = new Visitor();
    const { url: signIn } = await visitor.follow(await visitor.get(oauthStorage.url), oauthStorage.url, (at) =>
      at.includes("/sign-in"),
    );
    const back = await visitor.follow(await visitor.submit(signIn, { identity: "you@example.com" }), signIn);
    const grant = /name="grant" value="([^"]+)"/.exec(back.response.text)[1];
    const consentResponse = await visitor.submit(`${agents}/consent`, {
      grant,
      decision: "allow",
      access: "write",
      accounts: "all",
    });
    await first.transport.finishAuth(new URL(consentResponse.header("location")).searchParams.get("code"));
    const { client, transport } = start();
    await client.connect(transport);
    const { structuredContent } = await client.callTool({
      name: "start_connect",
      arguments: { platform: "demo-notes", authMethod: "oauth2" },
    });
    assert.match(structuredContent.authorizationUrl, /\/connect\/go\//);
    await client.close();
  });
});
