// Type tests of calls of the package. Compiled once with the globals of a browser, and once with those of Node.
import {
  ConnectError,
  ConnectorVault,
  NotFoundError,
  PreconditionError,
  VaultError,
  parseConnectionKey,
  parseConnectorKey,
  verifyWebhook,
} from "connector-vault";
import type {
  Action,
  ActionDetail,
  ActionResponse,
  AttemptStatus,
  Connection,
  ConnectionSummary,
  Connector,
  Environment,
  ErrorCode,
  Fault,
  JsonSchema,
  NewConnection,
  OauthClient,
  Webhook,
  WebhookWithSecret,
  Page,
  PendingAttempt,
  Scope,
  Session,
  Token,
} from "connector-vault";
import * as slim from "connector-vault/slim";

const vault = new ConnectorVault({ baseUrl: "https://vault.example.com", secret: "st_test_…" });

/** Compiles only if the value has the type. */
declare function is<T>(value: T): void;

export async function lists(signal: AbortSignal, limit?: number) {
  const page = await vault.connections.list({ platform: "github", limit }, { signal });
  is<Page<Connection>>(page);
  is<Page<Connection>>({} as Awaited<ReturnType<typeof vault.connections.list>>);
  is<Connection | undefined>(page.rows[0]);
  is<Page<Connection> | undefined>(await page.next({ signal }));
  is<string | undefined>(page.after);
  is<Page<Connection>>(await vault.connections.list({ after: page.after }));
  is<Connection[]>(await page.toArray({ max: 10 }));
  is<Connector[]>(await vault.connectors.list().toArray());
  is<[Page<Connector>, Page<Action>, Scope[]]>(
    await Promise.all([
      vault.connectors.list({ authkit: true, q: "issue" }),
      vault.actions.list("github", { method: "get" }),
      vault.whoami().then(({ scopes }) => scopes),
    ]),
  );
  is<number>(
    await vault.connectors
      .list()
      .then(({ total }) => total)
      .catch(() => 0)
      .finally(() => {}),
  );
  for await (const connection of vault.connections.list({ tags: ["eu", "billing"], tagsMatch: "any" }))
    is<Connection>(connection);
  for await (const connection of page) is<`${Environment}::${string}`>(connection.key);
  for await (const action of await vault.actions.list("github")) is<Action>(action);
  const searchResults = await vault.actions.search({
    q: "create an issue",
    platform: ["github", "gitlab"],
    method: "post",
  });
  is<[Page<Action>, boolean]>([searchResults, searchResults.totalIsMinimum]);
  is<readonly string[]>(searchResults.notes);
  // @ts-expect-error `q` is missing
  vault.actions.search({ platform: "github" });
}

export async function action() {
  const action = await vault.actions.get("github", "issuesCreate");
  is<ActionDetail>(action);
  is<ActionResponse[] | undefined>(action.responses);
  is<JsonSchema | undefined>(action.requestBody?.schema);
  const { responses } = await vault.actions.get("github", "issuesCreate", { include: "responses" }, {});
  is<ActionResponse[]>(responses);
  const { properties } = action.input;
  is<JsonSchema | undefined>(properties?.["body"]);
  if (typeof properties?.["body"] === "object") is<unknown>(properties["body"]["x-anything"]);
  // @ts-expect-error `examples` can't be included
  await vault.actions.get("github", "issuesCreate", { include: "examples" });
}

export async function changes(connection: Connection) {
  is<Connection>(
    await vault.connections.create({ platform: "github", identity: "ann", identityType: "user", name: null }),
  );
  is<Connection>(await vault.connections.update(connection.id, { tags: ["eu"] as const }, { ifMatch: connection }));
  await vault.connections.update(connection.id, { tags: connection.tags }, { ifMatch: '"tag"' });
  is<Connection>(
    await vault.connections.setState(
      connection.id,
      { state: "failed", active: false, reason: "gone" },
      { ifMatch: connection },
    ),
  );
  is<Connection>(await vault.connections.setName(connection.id, null, { ifMatch: '"tag"' }));
  is<readonly Fault[]>([
    ...vault.connections.validateSetState({ state: "failed" }),
    ...vault.connections.validateSetName("Ann"),
  ]);
  // @ts-expect-error no such state
  await vault.connections.setState(connection.id, { state: "broken" });
  is<void>(await vault.connections.delete(connection.id));
  is<void>(await vault.connections.delete(connection.id, { ifMatch: connection }));
  is<ConnectionSummary>(await vault.connections.summary());
  is<string>(parseConnectionKey(connection.key).label);
  is<`v${number}`>(parseConnectorKey("api::github::v1").platformVersion);
}

export async function sessions(page: Page<Connection>) {
  const session = await vault.sessions.create({
    identity: "ann",
    scopes: ["connections:read"],
    platforms: ["github"] as const,
    ttlSeconds: 60,
  });
  is<Session>(session);
  is<Token>(session);
  new ConnectorVault({
    baseUrl: "https://vault.example.com",
    secret: () => vault.sessions.create({ identity: "ann" }),
  });
  is<readonly Fault[]>(vault.sessions.validateCreate({ identity: "ann", identityType: page.rows[0]?.identityType }));
  const { identity, platforms } = await vault.whoami();
  is<[string | undefined, string[] | null | undefined]>([identity, platforms]);
  for (const scope of session.scopes) is<Scope>(scope);
  // @ts-expect-error a token cannot create tokens
  await vault.sessions.create({ identity: "ann", scopes: ["sessions:create"] });
  // @ts-expect-error a token belongs to an identity
  await vault.sessions.create({ identityType: "user" });
}

export function errors(error: unknown) {
  if (error instanceof NotFoundError) is<readonly string[]>(error.suggestions);
  if (error instanceof PreconditionError) is<number | undefined>(error.status);
  if (!(error instanceof VaultError)) throw error;
  is<ErrorCode>(error.code);
  is<[string | undefined, unknown]>([error.headers?.get("server-timing") ?? undefined, error.cause]);
  is<string | undefined>(error.errors[0]?.pointer ?? error.errors[0]?.suggestion);
}

export function validation(tags: string[], form: Omit<NewConnection, "identityType">) {
  is<readonly Fault[]>(vault.connections.validateUpdate({ tags }));
  is<readonly Fault[]>(vault.connections.validateCreate({ ...form, identityType: "user" }));
  is<readonly Fault[]>(vault.connections.validateList({ tags, tagsMatch: "any" }));
  is<readonly Fault[]>([...vault.connectors.validateList(), ...vault.connectors.validateList({ q: "issue" })]);
  is<readonly Fault[]>([
    ...vault.actions.validateList("github"),
    ...vault.actions.validateList("github", { method: "get" }),
    ...vault.actions.validateSearch({ q: "create an issue" }),
  ]);
}

export function options(secret: string, headers: Headers) {
  new ConnectorVault({ baseUrl: new URL("https://vault.example.com"), secret, headers, timeoutMs: undefined });
  new ConnectorVault({ baseUrl: "https://vault.example.com", secret, fetch, headers: { "x-tenant": "a" } });
  for (const supply of [
    () => secret,
    async () => secret,
    () => ({ token: secret }),
    async () => ({ token: secret, expiresAt: null }),
    (): Token => ({ token: secret, expiresAt: secret }),
  ]) {
    new ConnectorVault({ baseUrl: "https://vault.example.com", secret: supply });
  }
  new ConnectorVault({
    baseUrl: "https://vault.example.com",
    secret: async () => (await fetch("/token")).json() as Promise<Token>,
  });
  new slim.ConnectorVault({
    baseUrl: "https://vault.example.com",
    secret,
    fetch: async (request) => fetch(request.url, request),
  });
}

export async function moduleSources(bytes: Uint8Array, buffer: ArrayBuffer, response: Response, request: Request) {
  await slim.init("/connector-vault.wasm");
  await slim.init(new URL("https://example.com/connector-vault.wasm"));
  await slim.init(fetch("/connector-vault.wasm"));
  for (const source of [bytes, buffer, response, request]) await slim.init(source);
  slim.initSync(bytes);
  slim.initSync(buffer);
}

/** Tests of code that uses a client can replace it with a plain object. */
export const mockClient = (vault: ConnectorVault): ConnectorVault => ({
  ...vault,
  whoami: () => vault.whoami(),
  usage: (query, options) => vault.usage(query, options),
  connect: (options) => vault.connect(options),
  proxy: (connection, path, request) => vault.proxy(connection, path, request),
  pages: (connection, path, request) => vault.pages(connection, path, request),
});

export async function connectPromise(connection: Connection, signal: AbortSignal) {
  is<Connection>(await vault.connect());
  is<Connection>(await vault.connect({ connection, token: "st_test_…", ui: "page", returnUrl: "/", signal }));
  const started = await vault.connectAttempts.start({ connection: connection.id, fields: { apiKey: "…" } }, { signal });
  if ("authorizationUrl" in started) is<PendingAttempt>(started);
  else is<Connection>(started);
  const { status, error } = await vault.connectAttempts.get(started.id, { wait: 25 });
  is<AttemptStatus>(status);
  is<ErrorCode | undefined>(error?.code);
  is<Page<OauthClient>>(await vault.oauthClients.list({ limit: 5 }));
  is<OauthClient>(await vault.oauthClients.set("github", { clientId: "…", clientSecret: null }));
  is<void>(await vault.oauthClients.delete("github"));
  is<"user" | "account" | "nobody">((await vault.connections.status(connection.id)).actor);
  const credentials = await vault.connections.getCredentials(connection.id, { refresh: true });
  if (credentials.type !== "aws_sigv4") is<Record<string, string>>(credentials.headers);
  await vault.connections.setCredentials(connection.id, { type: "oauth2", accessToken: "…", expiresAt: null });
  const { results } = await vault.connections.import({
    connections: [
      { platform: "github", identity: "ann", identityType: "user", credentials: { type: "bearer", token: "…" } },
    ],
  });
  is<string | undefined>(results[0]?.connectionId);
  for await (const event of vault.events.list(
    { types: ["connection.failed"], connection: connection.id },
    { signal },
  )) {
    if ("connection" in event.data) is<Connection>(event.data.connection);
    if (event.type === "connection.called") is<number | null>(event.data.call.status);
    is<string | undefined>(event.data.reason?.code);
  }
  is<string>((await vault.events.page({ after: "evt_0000000000042" })).next);
  is<Connection>(await vault.connections.check("id", { signal }));
  const webhook = await vault.webhooks.create({
    url: "https://app.example.com/webhooks",
    types: ["connection.failed"],
  });
  is<WebhookWithSecret>(webhook);
  is<Webhook[]>(await vault.webhooks.list());
  is<boolean>((await vault.webhooks.test(webhook.id, { signal })).delivered);
  is<string | null>((await vault.webhooks.replay(webhook.id, { from: "evt_0000000000042" })).next);
  for await (const delivery of vault.webhooks.deliveries(webhook.id))
    is<"pending" | "delivered" | "failed">(delivery.state);
  vault.webhooks.deliveries(webhook.id, { state: "failed", limit: 5 });
  // @ts-expect-error no such state
  vault.webhooks.deliveries(webhook.id, { state: "lost" });
  const key = await vault.keys.create({ scopes: ["catalog:read"], expiresAt: null });
  is<string>((await vault.keys.rotate(key.id)).secret);
  for await (const { id, state } of vault.keys.list()) is<[string, "active" | "expired" | "revoked"]>([id, state]);
  await vault.keys.revoke(key.id, { signal });
  const event = await verifyWebhook(new Request("https://app.example.com"), webhook.secret);
  if (event.type === "connection.failed") is<Connection>(event.data.connection);
  await verifyWebhook({ headers: { "webhook-id": "…" }, body: "{}" }, [webhook.secret]);
  // @ts-expect-error no such type
  vault.events.list({ types: ["connection.broken"] });
  const failure = new ConnectError("…");
  is<string | undefined>(failure.attempt);
  // @ts-expect-error no such value of `ui`
  await vault.connect({ ui: "frame" });
  // @ts-expect-error `clientId` is missing
  await vault.oauthClients.set("github", {});
}

export async function invalidCalls(page: Page<Connection>) {
  // @ts-expect-error no such filter
  vault.connections.list({ platfrm: "github" });
  // @ts-expect-error no such identity type
  vault.connections.list({ identityType: "robot" });
  // @ts-expect-error the platform is the first argument
  vault.actions.list({ platform: "github" });
  // @ts-expect-error `identityType` is missing
  await vault.connections.create({ platform: "github", identity: "ann" });
  // @ts-expect-error required members are missing
  vault.connections.validateCreate({ platform: "github" });
  // @ts-expect-error no id, because validation without a request needs none
  vault.connections.validateUpdate("", { tags: [] });
  // @ts-expect-error `update` can only change tags
  await vault.connections.update("", { name: "Ann" });
  // @ts-expect-error not a valid version
  await vault.connections.create({ platform: "github", identity: "ann", identityType: "user", platformVersion: "1" });
  // @ts-expect-error a page is not an array: its rows are in `rows`
  page[0];
  // @ts-expect-error a list must be awaited before it has rows
  vault.connections.list().rows;
  // @ts-expect-error a number is not a module
  await slim.init(5);
  // @ts-expect-error a response is not a token
  new ConnectorVault({ baseUrl: "https://vault.example.com", secret: () => fetch("/token") });
  const withoutToken = async () => ({ expiresAt: "2027-01-15T08:00:00.000Z" });
  // @ts-expect-error the token is missing
  new ConnectorVault({ baseUrl: "https://vault.example.com", secret: withoutToken });
  // @ts-expect-error no such error code
  is<ErrorCode>("not_found");
}
