// `ConnectorVault`, the client with which every call starts.
import { ready } from "wasm";
import { Call } from "glue";
import { type ApiKeys, apiKeys } from "./resources/api-keys.js";
import { type Audit, audit } from "./resources/audit.js";
import { type Brandings, brandings } from "./resources/branding.js";
import { type ConnectAttempts, connectAttempts } from "./resources/connect-attempts.js";
import { type CallOptions, checkCallOptions } from "./core/options.js";
import { type PlatformRequestInit, pages, proxy } from "./resources/proxy.js";
import { Executor } from "./core/request.js";
import { type Actions, type Connectors, actions, connectors } from "./resources/catalog.js";
import { type ConsoleSessions, type ConsoleSignIns, consoleSessions, consoleSignIns } from "./resources/console.js";
import { type AgentGrants, type AgentSignIns, agentGrants, agentSignIns } from "./resources/agents.js";
import { type OauthClients, oauthClients } from "./resources/oauth-clients.js";
import type { ConnectOptions } from "./browser/popup.js";
import type { Connection } from "./types/connection.js";
import { type Connections, connections } from "./resources/connections.js";
import { type Events, events } from "./resources/events.js";
import { type ClientConfig, type ConnectorVaultOptions, readOptions } from "./core/client-options.js";
import { type Sessions, type Whoami, sessions } from "./resources/sessions.js";
import { connect } from "./browser/client-connect.js";
import type { UsageQuery } from "./types/filters.js";
import { type Usage, usage } from "./resources/usage.js";
import { type Webhooks, webhooks } from "./resources/webhooks.js";

// Stored outside the class: a private field would make its type nominal, so tests could not pass a mock as a client.
const clients = new WeakMap<ConnectorVault, { config: ClientConfig; executor: Executor }>();

/** A client for one service, with one API key or token. */
export class ConnectorVault {
  /** The catalog of connectors. */
  readonly connectors: Connectors;
  /** The actions of each platform. */
  readonly actions: Actions;
  /** The vault of connections. */
  readonly connections: Connections;
  /** Attempts to connect accounts, for servers. */
  readonly connectAttempts: ConnectAttempts;
  /** OAuth clients: the registrations of your app at platforms. */
  readonly oauthClients: OauthClients;
  /** The name, logo, colour and URL that users see for your app. */
  readonly branding: Brandings;
  /** The configuration of sign-in for agents. */
  readonly agentSignIn: AgentSignIns;
  /** The access that users have granted to agents. */
  readonly agentGrants: AgentGrants;
  /** The configuration of sign-in to the console. */
  readonly consoleSignIn: ConsoleSignIns;
  /** The sessions of people who are signed in to the console. */
  readonly consoleSessions: ConsoleSessions;
  /** The audit log: changes, and reads of credentials. */
  readonly audit: Audit;
  /** The events of the vault. */
  readonly events: Events;
  /** The URLs to which events are sent. */
  readonly webhooks: Webhooks;
  /** The API keys of the account and environment. */
  readonly keys: ApiKeys;
  /** Short-lived tokens, for pages. */
  readonly sessions: Sessions;

  /** @throws {ValidationError} if an option is invalid */
  constructor(options: ConnectorVaultOptions) {
    ready();
    const config = readOptions(options);
    const executor = new Executor(config);
    clients.set(this, { config, executor });
    this.connectors = connectors(executor);
    this.actions = actions(executor);
    this.connections = connections(executor);
    this.connectAttempts = connectAttempts(executor);
    this.oauthClients = oauthClients(executor);
    this.branding = brandings(executor);
    this.agentSignIn = agentSignIns(executor);
    this.agentGrants = agentGrants(executor);
    this.consoleSignIn = consoleSignIns(executor);
    this.consoleSessions = consoleSessions(executor);
    this.audit = audit(executor);
    this.events = events(executor);
    this.webhooks = webhooks(executor);
    this.keys = apiKeys(executor);
    this.sessions = sessions(executor);
  }

  /** Returns the account, environment, scopes, expiry and restrictions of the key or token. */
  async whoami(options?: CallOptions): Promise<Whoami> {
    return getState(this).executor.send(
      () => Call.of("whoami", []),
      checkCallOptions(options),
      (json) => typeof (json as Partial<Whoami> | null)?.account === "string",
    );
  }

  /**
   * Returns the number of requests of the account's keys and tokens, per day by default. Needs the scope `usage:read`.
   */
  async usage(query?: UsageQuery, options?: CallOptions): Promise<Usage> {
    return usage(getState(this).executor, query, options);
  }

  /**
   * Sends a request to the platform of a connection, like `fetch`. The service adds the credentials. Returns the
   * platform's response, even if it is an error, and streams both bodies. The service follows redirects within one origin
   * only; the target of any other redirect is in the header `x-platform-location`. Needs the scope `connections:call`.
   * The call is never retried, and `timeoutMs` does not apply: use `signal`.
   *
   * @param path relative to the platform's server, including the query: `user/repos?per_page=5`
   * @throws {VaultError} if the error comes from the service: the connection does not exist, the platform can't be
   * reached, …
   */
  async proxy(connection: string, path: string, request?: PlatformRequestInit): Promise<Response> {
    return proxy(getState(this).config, connection, path, request);
  }

  /**
   * Iterates over the pages of a platform's list. Sends the request like `proxy`, then follows the `Link` headers of
   * the platform to the next pages, as long as they are on the same server. Ends after an unsuccessful response.
   *
   * ```js
   * for await (const response of vault.pages(id, "user/repos?per_page=100")) console.log(await response.json());
   * ```
   */
  pages(connection: string, path: string, request?: PlatformRequestInit): AsyncGenerator<Response> {
    return pages(getState(this).config, connection, path, request);
  }

  /**
   * Lets the user of a page connect an account: opens the service's connect window, and returns the connection. Call it
   * in a click handler, because browsers block windows that open without a click. The client's secret, or `token`, must
   * be a short-lived token with the scopes `connections:connect` and `catalog:read`. If the token is restricted to
   * origins, they must include that of the page.
   *
   * @throws {ConnectError} if the user closes the window, if the browser blocks it, or if the account can't be
   * connected
   */
  async connect(options?: ConnectOptions): Promise<Connection> {
    return connect(getState(this).config, this.connectAttempts, options);
  }
}

const getState = (vault: ConnectorVault) => clients.get(vault) as { config: ClientConfig; executor: Executor };
