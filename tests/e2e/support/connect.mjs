// A service whose users can connect accounts: a catalog with a platform for each type of auth method, an authorization
// server, and an app with a page on its own origin.
import { randomBytes } from "node:crypto";
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import Provider from "oidc-provider";
import { openapiDirectory } from "../../../scripts/lib/paths.mjs";
import { launch } from "./browser.mjs";
import { issuedSecrets } from "./connecting.mjs";
import { Console } from "./console.mjs";
import { secrets } from "./http.mjs";
import { key, store } from "./keys.mjs";
import { dist } from "./package.mjs";
import { SESSION_SECRET, Server, freePort } from "./server.mjs";
import { Site } from "./site.mjs";
import { State, build, folder, importCatalog } from "./workspace.mjs";

/** The scopes of the token that an app gives to its page. */
const SCOPES = ["catalog:read", "connections:read", "connections:connect"];
export const CLIENT = { id: "the-app", secret: randomBytes(24).toString("hex") };
secrets.add(CLIENT.secret);

const POLLY = join(openapiDirectory, "api", "amazonaws.com", "polly.json");

/** The page of an app. Its buttons connect; it shows the outcome and stores messages of windows. */
const PAGE = `<!doctype html>
<html lang="en">
<title>An app</title>
<link rel="icon" href="data:," />
<button>Connect</button>
<p></p>
<iframe title="The window" style="border: 0; width: 480px; height: 700px"></iframe>
<script type="module">
  import { ConnectorVault } from "/connector-vault.mjs";
  const { base, token, ...options } = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
  // Remove the fragment, which holds the token: by default users return to location.href, and the page must then load
  // without it.
  history.replaceState(null, "", location.pathname + location.search);
  // Without base, the user has returned from the window.
  const vault = base && new ConnectorVault({ baseUrl: base, secret: async () => token });
  window.messages = [];
  addEventListener("message", ({ source, origin, data }) => {
    window.messages.push({ origin, ...data });
    // The package replies to windows that it opens. For a frame, the page itself must confirm its user.
    const isFrame = source === document.querySelector("iframe").contentWindow;
    const connectUrl = document.querySelector("iframe").dataset.opened;
    if (isFrame && connectUrl && data.status === "waiting") source.postMessage({ type: data.type, connectUrl }, origin);
  });
  const show = (text) => (document.querySelector("p").textContent = text);
  document.querySelector("button").onclick = () => {
    show("Connecting");
    window.controller = new AbortController();
    vault.connect({ ...options, signal: window.controller.signal }).then(
      ({ platform, identity }) => show(\`\${platform} of \${identity}\`),
      ({ name, code, attempt }) => show(\`\${name} \${code} \${attempt ? "with" : "without"} an attempt\`),
    );
  };
</script>
`;

/** An OpenAPI document with one action and these security schemes. */
const document = (name, schemes) => ({
  openapi: "3.0.3",
  info: { title: name, version: "1", license: { name: "MIT" }, "x-providerName": `${name.toLowerCase()}.example` },
  servers: [{ url: `https://api.${name.toLowerCase()}.example` }],
  paths: { "/things": { get: { operationId: "listThings", responses: {} } } },
  components: { securitySchemes: schemes },
  security: Object.keys(schemes).map((scheme) => ({ [scheme]: [] })),
});

const documents = (issuer) => {
  const login = {
    type: "oauth2",
    flows: {
      authorizationCode: {
        authorizationUrl: `${issuer}/auth`,
        tokenUrl: `${issuer}/token`,
        scopes: { openid: "Who you are" },
      },
    },
  };
  return {
    login: document("Login", { login }),
    keyed: document("Keyed", { key: { type: "apiKey", in: "header", name: "x-api-key" } }),
    simple: document("Simple", { basic: { type: "http", scheme: "basic" } }),
    both: document("Both", { login, token: { type: "http", scheme: "bearer" } }),
  };
};

/**
 * Facts that documents can't express, such as that the server requires PKCE. The members of a method replace those of
 * the document. `shops`, `hosted` and `standard` have no document, and their URLs have variables; those of the last two
 * determine which host receives codes, and no server listens there.
 */
const providers = (issuer) =>
  [
    ["login", "Login", 'documents = ["login"]'],
    ["both", "Both", 'documents = ["both"]'],
    [
      "shops",
      "Shops",
      'servers = ["https://{shop}.shops.example/{region}"]',
      issuer,
      '{ name = "shop", label = "Shop" }, { name = "region", label = "Region", enum = ["eu", "us"], default = "eu" }',
    ],
    ["hosted", "Hosted", 'servers = ["https://{host}"]', "https://{host}", '{ name = "host", label = "Host" }'],
    [
      "standard",
      "Standard",
      'servers = ["https://{host}"]',
      "https://{host}",
      '{ name = "host", label = "Host", default = "id.standard.example" }',
    ],
  ]
    .map(
      ([platform, name, more, tokens = issuer, fields = ""]) => `[platforms.${platform}]
name = "${name}"
${more}

[[platforms.${platform}.auth]]
id = "login"
type = "oauth2"
grant = "authorization_code"
authorizationUrl = "${issuer}/auth"
tokenUrl = "${tokens}/token"
pkce = "S256"
source = "these tests"
read = "2026-11-22"
${fields && `fields = [${fields}]`}
`,
    )
    .join("\n");

/** The credentials that users enter, which only the platform may receive. */
export const enteredSecret = (what) => {
  const text = `${what}-${randomBytes(9).toString("hex")}`;
  secrets.add(text);
  return text;
};

/** A page of the authorization server, which sends no request to another host. */
const providerPage = (title, content) => `<!doctype html>
<html lang="en">
<title>${title}</title>
<link rel="icon" href="data:," />
<form method="post">${content} <button name="answer" value="yes">${title}</button> <button name="answer" value="no">Cancel</button></form>
`;

/** An authorization server with one client, which asks its users to sign in and to consent. */
async function startProvider(port, redirectUri) {
  const issuer = `http://127.0.0.1:${port}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        redirect_uris: [redirectUri],
        token_endpoint_auth_method: "client_secret_post",
      },
    ],
    pkce: { required: () => true },
    cookies: { keys: [randomBytes(16).toString("hex")] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
  });
  for (const kind of ["access_token", "refresh_token", "authorization_code"])
    provider.on(`${kind}.saved`, (token) => issuedSecrets.add(token.jti));
  const interact = async (request, response) => {
    const { prompt, params, session } = await provider.interactionDetails(request, response);
    const isLogin = prompt.name === "login";
    if (request.method === "GET") {
      const html = isLogin
        ? providerPage("Sign in", '<label>Account <input name="account"></label>')
        : providerPage("Allow", "");
      response.writeHead(200, { "content-type": "text/html" }).end(html);
      return;
    }
    const form = new URLSearchParams(await text(request));
    const finish = (result) => provider.interactionFinished(request, response, result);
    if (form.get("answer") === "no") await finish({ error: "access_denied" });
    else if (isLogin) await finish({ login: { accountId: form.get("account") } });
    else {
      const grant = new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
      grant.addOIDCScope(params.scope);
      await finish({ consent: { grantId: await grant.save() } });
    }
  };
  const reply = provider.callback();
  const server = createServer((request, response) => {
    if (!request.url.startsWith("/interaction/")) reply(request, response);
    else interact(request, response).catch((error) => response.writeHead(500).end(String(error)));
  });
  await new Promise((done) => server.listen(port, "127.0.0.1", done));
  return { issuer, server };
}

/** `Console` with an app, an authorization server, and tokens for users. */
export class ConnectConsole extends Console {
  /** The addresses that its browsers requested, as servers see them, with their referrers. */
  visited = [];

  static async start(name) {
    await build();
    const fixture = new ConnectConsole();
    const scopes = [...SCOPES, "connections:write", "sessions:create", "clients:read", "clients:write"].join(" ");
    fixture.keys = { full: key({ scopes }) };
    const pages = join(folder, `${name}-pages`);
    const sources = join(folder, `${name}-documents`);
    for (const path of [pages, sources]) mkdirSync(path, { recursive: true });
    copyFileSync(join(dist, "index.mjs"), join(pages, "connector-vault.mjs"));
    writeFileSync(join(pages, "index.html"), PAGE);
    fixture.app = await Site.start(pages);
    try {
      // A different site from the service's, as in production.
      fixture.app.origin = fixture.app.origin.replace("127.0.0.1", "localhost");
      const port = await freePort();
      const issuer = `http://127.0.0.1:${port}`;
      for (const [file, content] of Object.entries(documents(issuer)))
        writeFileSync(join(sources, `${file}.json`), JSON.stringify(content));
      const known = join(sources, "providers.toml");
      writeFileSync(known, providers(issuer));
      const config = join(sources, "catalog.toml");
      const enabled = ["login", "keyed", "simple", "both", "shops", "amazonaws-polly"].map(
        (platform) => `[platforms.${platform}]\nauthkit = true\n`,
      );
      writeFileSync(config, enabled.join("\n"));
      const state = (fixture.state = new State(`${name}-state`));
      await state.prepare(await importCatalog(name, sources, POLLY, "--providers", known, "--config", config));
      fixture.opened = await state.open();
      await store(fixture.database, Object.values(fixture.keys));
      fixture.server = await Server.start(state, {
        name,
        variables: {
          ALLOWED_ORIGINS: fixture.app.origin,
          LOCAL_TARGETS: "allow",
          APP_NAME: "Acme Planner",
          APP_LOGO_URL: "/favicon.svg",
          APP_COLOR: "#ffcc00",
        },
        secrets: { SESSION_SECRET, VAULT_KEYS: `test-1:${randomBytes(32).toString("base64")}` },
      });
      fixture.baseUrl = `http://127.0.0.1:${fixture.server.port}`;
      fixture.provider = await startProvider(port, `${fixture.baseUrl}/connect/callback`);
      fixture.browser = await launch();
      for (const platform of ["login", "both"]) await fixture.setClient(platform);
      return fixture;
    } catch (error) {
      await fixture.stop();
      throw error;
    }
  }

  get origins() {
    return [this.baseUrl, this.app.origin, this.provider.issuer];
  }

  async stop() {
    this.provider?.server.closeAllConnections();
    this.provider?.server.close();
    await this.app?.stop();
    await super.stop();
  }

  /** Registers the app at the authorization server. */
  async setClient(platform, variables = {}) {
    const client = { clientId: CLIENT.id, clientSecret: CLIENT.secret, scopes: ["openid"], variables };
    const { status, text } = await this.caller().sendJson("PUT", `/v1/oauth-clients/${platform}`, client);
    if (status !== 201 && status !== 200) throw new Error(text);
  }

  /** A token for an identity, created as an app's server would. */
  async token(identity, input = {}) {
    const origins = [this.app.origin];
    const response = await this.caller().sendJson("POST", "/v1/sessions", {
      identity,
      scopes: SCOPES,
      origins,
      ...input,
    });
    if (response.status !== 201) throw new Error(response.text);
    secrets.add(response.json.token);
    return response.json.token;
  }

  /** The window's path for an identity. */
  async path(identity, more = {}, input = {}) {
    return `/connect#${new URLSearchParams({ token: await this.token(identity, input), ...more })}`;
  }

  /** The path of a `connectUrl`, which works once. */
  async link(identity, more = {}, input = {}) {
    const origins = [this.app.origin];
    const response = await this.caller().sendJson("POST", "/v1/sessions", {
      identity,
      scopes: SCOPES,
      origins,
      ...input,
    });
    const { token, connectUrl } = response.json;
    secrets.add(token).add(connectUrl.split("code=")[1]);
    return `${connectUrl.slice(this.baseUrl.length)}&${new URLSearchParams(more)}`;
  }

  /** Opens a page. If it is the connect window, confirms the identity first, unless `asks` is false. */
  visit(path, use, { asks = path.startsWith("/connect#"), ...options } = {}) {
    const confirmThenUse = async (page) => {
      if (asks) await confirm(page);
      await use(page);
    };
    return super.visit(path, confirmThenUse, options);
  }

  /** The address of the app's page for an identity. */
  async appUrl(identity, options = {}, input = {}) {
    const members = { base: this.baseUrl, token: await this.token(identity, input), ...options };
    return `${this.app.origin}/#${new URLSearchParams(members)}`;
  }

  /** The connections of an identity, newest first. */
  async connectionsOf(identity) {
    return (await this.caller().list({ identity })).json.rows;
  }

  async storeFailed(identity, platform) {
    const connection = { platform, identity, identityType: "user", state: "failed", active: false };
    const { json } = await this.caller().create(connection);
    return json;
  }
}

export const heading = (page, name) => page.getByRole("heading", { level: 1, name, exact: true });
export const button = (page, name) => page.getByRole("button", { name, exact: true });

/** Signs in at the authorization server, and consents. */
export async function consent(page, account = "ann") {
  await page.getByLabel("Account").fill(account);
  await button(page, "Sign in").click();
  await button(page, "Allow").click();
}

/** Declines at the authorization server. */
export async function declineAtProvider(page) {
  // The window that the page replaces has such a button, too.
  await page.getByLabel("Account").waitFor();
  await button(page, "Cancel").click();
}

/** Shows a link in the frame of the app's page, which vouches for it unless `vouches` is false. Returns the frame. */
export async function openFrame(page, src, { vouches = true } = {}) {
  await page.evaluate(
    ([src, vouches]) => {
      const frame = document.querySelector("iframe");
      if (vouches) frame.dataset.opened = src;
      frame.src = src;
    },
    [src, vouches],
  );
  return page.frameLocator("iframe");
}

/** Confirms the identity in the window. */
export const confirm = (page) => page.getByRole("button", { name: /^Continue as / }).click();

/** The button that confirms on the link's page that the user started the attempt. */
export const linkConfirmation = (page, name) => button(page, `Yes, continue to ${name}`);

/** Presses a button that opens a window, and returns that window. */
export async function openWindow(page, press) {
  const [popup] = await Promise.all([page.context().waitForEvent("page"), press()]);
  return popup;
}
