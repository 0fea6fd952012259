import { ConnectorVault, VaultError } from "connector-vault";
import { Hono } from "hono";
import { csrf } from "hono/csrf";
import { html } from "hono/html";

interface Bindings {
  /** The vault's Worker. Requests through the binding stay inside Cloudflare. */
  VAULT: { fetch(request: Request): Promise<Response> };
  VAULT_URL: string;
  /** A key with the scopes `connections:read`, `connections:connect` and `connections:call`. */
  VAULT_KEY?: string;
}

const PLATFORM = "demo-notes";

/** Returns the signed-in user. Replace this with your own sign-in. */
const currentUser = () => "ann@example.com";

function vaultOf({ VAULT, VAULT_URL, VAULT_KEY }: Bindings): ConnectorVault {
  if (!VAULT_KEY) throw new Error("VAULT_KEY is not set. The vault's `npm start` prints a key.");
  return new ConnectorVault({ baseUrl: VAULT_URL, secret: VAULT_KEY, fetch: (request) => VAULT.fetch(request) });
}

/** The user's connection. The key has access to those of all users, so each request names the user. */
async function connectionOf(vault: ConnectorVault, user: string) {
  const { rows } = await vault.connections.list({ platform: PLATFORM, identity: user, identityType: "user", limit: 1 });
  return rows[0];
}

const app = new Hono<{ Bindings: Bindings }>();

// Rejects forms that other sites submit.
app.use(csrf());

app.onError((error, context) => {
  console.error(error);
  return context.text(error instanceof VaultError ? `${error.code}: ${error.message}` : error.message, 500);
});

app.get("/", async (context) => {
  const vault = vaultOf(context.env);
  const connection = await connectionOf(vault, currentUser());
  if (!connection)
    return context.html(html`<form method="post" action="/connect"><button>Connect Demo Notes</button></form>`);
  const { status, body } = await vault.actions.run(connection.id, "listNotes", {});
  if (status !== 200) return context.text(`The platform responded with ${status}.`, 502);
  const { notes } = body as { notes: { title: string }[] };
  return context.html(html`
    <h1>Notes of ${currentUser()}</h1>
    <ul>${notes.map(({ title }) => html`<li>${title}</li>`)}</ul>
    <form method="post" action="/notes"><input name="title" aria-label="Title" required /> <button>Create</button></form>
  `);
});

/** Redirects the user to the platform, which redirects them back to this Worker. */
app.post("/connect", async (context) => {
  const attempt = await vaultOf(context.env).connectAttempts.start({
    platform: PLATFORM,
    authMethod: "oauth2",
    identity: currentUser(),
    identityType: "user",
    returnUrl: new URL("/", context.req.url).href,
  });
  return context.redirect("authorizationUrl" in attempt ? attempt.authorizationUrl : "/", 303);
});

app.post("/notes", async (context) => {
  const vault = vaultOf(context.env);
  const connection = await connectionOf(vault, currentUser());
  if (!connection) return context.redirect("/", 303);
  const { title } = await context.req.parseBody();
  const { status } = await vault.actions.run(connection.id, "createNote", { body: { title } });
  return status === 201 ? context.redirect("/", 303) : context.text(`The platform responded with ${status}.`, 502);
});

export default app;
