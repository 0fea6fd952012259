// The client, from which all calls start.
import { ready } from "core";
import { Call } from "glue";
import { type ApiKeys, apiKeys } from "./api-keys.js";
import { type Audit, audit } from "./audit.js";
import { type ConnectAttempts, connectAttempts } from "./attempts.js";
import { type CallOptions, callOptions } from "./call.js";
import { type PlatformRequestInit, pages, proxy } from "./calling.js";
import { Caller } from "./caller.js";
import { type Actions, type Connectors, actions, connectors } from "./catalog.js";
import { type AgentGrants, type AgentSignIns, agentGrants, agentSignIns } from "./agents.js";
import { type OauthClients, oauthClients } from "./clients.js";
import type { ConnectOptions } from "./popup.js";
import type { Connection } from "./connection.js";
import { type Connections, connections } from "./connections.js";
import { type Events, events } from "./events.js";
import { type Client, type ConnectorVaultOptions, readOptions } from "./options.js";
import { type Sessions, type Whoami, sessions } from "./sessions.js";
import { connect } from "./vault-connect.js";
import { type Webhooks, webhooks } from "./webhooks.js";

// Not in a private field: the declared class would have it, and an object that stands in for a client could not.
const clients = new WeakMap<ConnectorVault, { client: Client; caller: Caller }>();

/** A client of one service with one API key or token. */
export class ConnectorVault {
  /** The catalog of connectors. */
  readonly connectors: Connectors;
  /** The actions of each platform. */
  readonly actions: Actions;
  /** The vault of connections. */
  readonly connections: Connections;
  /** Attempts to connect accounts, for servers. */
  readonly connectAttempts: ConnectAttempts;
  /** The registrations of your app at platforms. */
  readonly oauthClients: OauthClients;
  /** Who authenticates the users of agents. */
  readonly agentSignIn: AgentSignIns;
  /** What users granted to agents. */
  readonly agentGrants: AgentGrants;
  /** Who changed what, and who read credentials. */
  readonly audit: Audit;
  /** What happened in the vault. */
  readonly events: Events;
  /** Where events are sent. */
  readonly webhooks: Webhooks;
  /** The API keys of the account and environment. */
  readonly keys: ApiKeys;
  /** Short-lived tokens, for pages. */
  readonly sessions: Sessions;

  /** @throws {ValidationError} if an option is invalid */
  constructor(options: ConnectorVaultOptions) {
    ready();
    const client = readOptions(options);
    const caller = new Caller(client);
    clients.set(this, { client, caller });
    this.connectors = connectors(caller);
    this.actions = actions(caller);
    this.connections = connections(caller);
    this.connectAttempts = connectAttempts(caller);
    this.oauthClients = oauthClients(caller);
    this.agentSignIn = agentSignIns(caller);
    this.agentGrants = agentGrants(caller);
    this.audit = audit(caller);
    this.events = events(caller);
    this.webhooks = webhooks(caller);
    this.keys = apiKeys(caller);
    this.sessions = sessions(caller);
  }

  /** Returns what the key or the token has access to: its account, environment, scopes, expiry and restrictions. */
  async whoami(options?: CallOptions): Promise<Whoami> {
    return partsOf(this).caller.one(
      () => Call.whoami(),
      callOptions(options),
      (json) => typeof (json as Partial<Whoami> | null)?.account === "string",
    );
  }

  /**
   * Sends a request to the platform of a connection, as `fetch` does, with credentials that stay in the service. Returns what
   * the platform answers, whatever its status; bodies are streams. Needs the scope `connections:call`. Never retried, and
   * without a time limit of its own: use `signal`.
   *
   * @param path below the platform's server, with any query: `user/repos?per_page=5`
   * @throws {VaultError} if the service itself answers: the connection does not exist, the platform can't be reached, …
   */
  async proxy(connection: string, path: string, request?: PlatformRequestInit): Promise<Response> {
    return proxy(partsOf(this).client, connection, path, request);
  }

  /**
   * The pages of a list of a platform: sends a request as `proxy` does, and goes on with the next page that the platform
   * names in `Link`, if it is on the same server. Ends after an answer that is no success.
   *
   * ```js
   * for await (const response of vault.pages(id, "user/repos?per_page=100")) console.log(await response.json());
   * ```
   */
  pages(connection: string, path: string, request?: PlatformRequestInit): AsyncGenerator<Response> {
    return pages(partsOf(this).client, connection, path, request);
  }

  /**
   * Lets the user of a page connect an account: opens the service's window, which asks for everything, and returns the
   * connection. To be called while a click is handled: browsers block windows that open by themselves. The client's secret,
   * or `token`, must be a short-lived token with the scopes `connections:connect` and `catalog:read`, and with the page's
   * origin, if it is restricted to origins.
   *
   * @throws {ConnectError} if the user closes the window, if the browser blocks it, or if the account can't be connected
   */
  async connect(options?: ConnectOptions): Promise<Connection> {
    return connect(partsOf(this).client, this.connectAttempts, options);
  }
}

const partsOf = (vault: ConnectorVault) => clients.get(vault) as { client: Client; caller: Caller };
