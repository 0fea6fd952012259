// Code with type errors. If an expected error does not occur, `tsc` reports `@ts-expect-error` as an error.
import { ConnectorVault, VaultError, parseConnectionKey } from "connector-vault";
import type { Action, Connection, Connector, Page } from "connector-vault";

export async function wrong(vault: ConnectorVault, page: Page<Connection>, connection: Connection, action: Action, connector: Connector, error: VaultError) {
  // @ts-expect-error: a client needs a key
  new ConnectorVault({ baseUrl: "https://vault.example" });
  // @ts-expect-error: unknown option
  new ConnectorVault({ baseUrl: "https://vault.example", secret: "sk_test_", retries: 3 });
  // @ts-expect-error: `fetch` must accept a Request
  new ConnectorVault({ baseUrl: "https://vault.example", secret: "sk_test_", fetch: async (url: string) => new Response(url) });
  // @ts-expect-error: unknown filter
  vault.connections.list({ plattform: "github" });
  // @ts-expect-error: a filter of another list
  vault.connectors.list({ tags: ["eu"] });
  // @ts-expect-error: unknown identity type
  vault.connections.list({ identityType: "robot" });
  // @ts-expect-error: a string instead of a number
  vault.connections.list({ limit: "20" });
  // @ts-expect-error: the platform is missing
  vault.actions.list();
  // @ts-expect-error: not a method of actions
  vault.actions.list("github", { method: "HEAD" });
  // @ts-expect-error: only tags can be changed
  vault.connections.update(connection.id, { name: "other" });
  // @ts-expect-error: a required member is missing
  vault.connections.create({ platform: "github", identity: "ann" });
  // @ts-expect-error: not a valid platform version
  vault.connections.create({ platform: "github", identity: "ann", identityType: "user", platformVersion: "1" });
  // @ts-expect-error: a signal must be in the options
  vault.connections.get(connection.id, new AbortController().signal);
  // @ts-expect-error: a list is not an array
  vault.connections.list().map((row) => row.id);
  // @ts-expect-error: there may be no next page
  (await page.next()).rows;
  // @ts-expect-error: a name may be null
  connection.name.length;
  // @ts-expect-error: not a connection state
  connection.state === "broken";
  // @ts-expect-error: not an action method
  action.method === "get";
  // @ts-expect-error: not a connector status
  connector.status === "stable";
  // @ts-expect-error: not an error code
  error.code === "not_found";
  // @ts-expect-error: errors are read-only
  error.status = 500;
  // @ts-expect-error: tags are not `any`
  const text: number = (await vault.connections.list()).rows[0]?.tags;
  // @ts-expect-error: unknown member of a parsed key
  parseConnectionKey(connection.key).version;
  return text;
}
