// An application's code for pages, filters, changes and errors. It must compile without `any` and type assertions.
import {
  ConnectorVault,
  NotFoundError,
  PreconditionError,
  RateLimitError,
  VaultError,
  parseConnectionKey,
  parseConnectorKey,
} from "connector-vault";
import type {
  Connection,
  ConnectionChanges,
  ConnectionFilters,
  ConnectionState,
  ErrorCode,
  List,
  NewConnection,
  Page,
  PlatformVersion,
  Scope,
} from "connector-vault";

const FILTERS: ConnectionFilters = {
  platform: "github",
  identityType: "team",
  tags: ["eu", "billing"],
  tagsMatch: "any",
  active: true,
  limit: 50,
};
const NEW_CONNECTION: NewConnection = {
  platform: "github",
  identity: "ann",
  identityType: "user",
  name: null,
  tags: ["eu"],
  state: "operational",
};
const CHANGES: ConnectionChanges = { tags: ["eu", "production"] };

export async function names(baseUrl: string, secret: string): Promise<string[]> {
  const vault = new ConnectorVault({
    baseUrl,
    secret,
    timeoutMs: 10_000,
    maxRetries: 1,
    headers: { "x-app": "tests" },
  });
  const found: string[] = [];
  for await (const { name, key, tools } of vault.connectors.list({ limit: 2 })) {
    const version: PlatformVersion = parseConnectorKey(key).platformVersion;
    if (tools >= 0 && version.startsWith("v")) found.push(name);
  }
  return found;
}

export async function connections(vault: ConnectorVault, signal: AbortSignal): Promise<Connection[]> {
  const list: List<Connection> = vault.connections.list(FILTERS, { signal });
  const first: Page<Connection> = await list;
  const second: Page<Connection> | undefined = await first.next({ signal });
  const few: Connection[] = await vault.connections.list().toArray({ max: 10 });
  return [...first.rows, ...(second?.rows ?? []), ...few, ...(await first.toArray())];
}

export async function change(vault: ConnectorVault): Promise<Connection | undefined> {
  const created = await vault.connections.create(NEW_CONNECTION);
  try {
    return await vault.connections.update(created.id, CHANGES, { ifMatch: created });
  } catch (error) {
    if (error instanceof PreconditionError) return await vault.connections.get(created.id);
    if (error instanceof NotFoundError) return undefined;
    throw error;
  } finally {
    const nothing: void = await vault.connections.delete(created.id);
    return nothing ?? undefined;
  }
}

export async function titles(vault: ConnectorVault): Promise<string[]> {
  const page = await vault.actions.list("github", { method: "get", q: "branches" });
  return page.rows.map(({ title, method }): string => (method === "GET" ? title : method.toLowerCase()));
}

/** A switch over all states must compile without a default case. */
export function symbolOf(state: ConnectionState): string {
  switch (state) {
    case "operational":
      return "✓";
    case "degraded":
      return "!";
    case "failed":
      return "✗";
    case "unknown":
      return "?";
  }
}

export function describeError(error: unknown): string {
  if (!(error instanceof VaultError)) return String(error);
  const code: ErrorCode = error.code;
  if (error instanceof RateLimitError) return `${code}, again in ${(error.retryAfter ?? 60).toFixed()} s`;
  const faults = error.errors.map((fault) => `${fault.parameter ?? fault.pointer ?? ""}: ${fault.detail}`);
  return [
    `${error.status ?? "-"} ${code} ${error.requestId ?? "-"} ${error.headers?.get("date") ?? "-"}`,
    ...faults,
  ].join("\n");
}

export async function mayWrite(vault: ConnectorVault): Promise<boolean> {
  const { scopes, environment, expiresAt } = await vault.whoami();
  const required: Scope = "connections:write";
  const { total, state } = await vault.connections.summary();
  return scopes.includes(required) && environment === "test" && (expiresAt?.length ?? 0) >= 0 && total >= state.failed;
}

export const identity: string = parseConnectionKey("test::github::default::ann").identity;
