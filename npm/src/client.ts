// The client, from which all calls start.
import { ready } from "core";
import { Call } from "glue";
import { type CallOptions, callOptions } from "./call.js";
import { Caller } from "./caller.js";
import { type Actions, type Connectors, actions, connectors } from "./catalog.js";
import { type Connections, connections } from "./connections.js";
import { type ConnectorVaultOptions, readOptions } from "./options.js";
import { type Sessions, type Whoami, sessions } from "./sessions.js";

// Not in a private field: the declared class would have it, and an object that stands in for a client could not.
const callers = new WeakMap<ConnectorVault, Caller>();

/** A client of one service with one API key or token. */
export class ConnectorVault {
  /** The catalog of connectors. */
  readonly connectors: Connectors;
  /** The actions of each platform. */
  readonly actions: Actions;
  /** The vault of connections. */
  readonly connections: Connections;
  /** Short-lived tokens, for pages. */
  readonly sessions: Sessions;

  /** @throws {ValidationError} if an option is invalid */
  constructor(options: ConnectorVaultOptions) {
    ready();
    const caller = new Caller(readOptions(options));
    callers.set(this, caller);
    this.connectors = connectors(caller);
    this.actions = actions(caller);
    this.connections = connections(caller);
    this.sessions = sessions(caller);
  }

  /** Returns what the key or the token has access to: its account, environment, scopes, expiry and restrictions. */
  async whoami(options?: CallOptions): Promise<Whoami> {
    const caller = callers.get(this) as Caller;
    return caller.one(
      () => Call.whoami(),
      callOptions(options),
      (json) => typeof (json as Partial<Whoami> | null)?.account === "string",
    );
  }
}
