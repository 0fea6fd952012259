// Connections of identities to platforms.
import { Call } from "glue";
import { copyMembers, serializeBody, queryString, stringArgument } from "../core/arguments.js";
import { type CallOptions, type ChangeOptions, checkCallOptions } from "../core/options.js";
import type { Executor, BuildRequest, BuildListRequest } from "../core/request.js";
import {
  type Connection,
  type ConnectionState,
  type ConnectionWithAccount,
  type IdentityType,
  isConnection,
} from "../types/connection.js";
import type { ConnectionStatus, Credentials, ImportResults, NewCredentials, NewImport } from "../types/credentials.js";
import type { PlatformVersion } from "../types/keys.js";
import type { Fault } from "../core/errors.js";
import type { List } from "../core/pages.js";
import type { ConnectionFilters, CredentialsQuery } from "../types/filters.js";

/** Exact numbers of connections in the account and environment. */
export interface ConnectionSummary {
  /** All connections, active or not. */
  total: number;
  active: Record<"true" | "false", number>;
  state: Record<ConnectionState, number>;
  identityType: Record<IdentityType, number>;
  /** The 50 platforms with the most connections, in descending order. */
  platforms: { platform: string; total: number }[];
  /** The number of connections to all other platforms. */
  otherPlatforms: number;
}

/** An update of a connection. */
export interface ConnectionChanges {
  /** Replaces all existing tags: at most 50 of 1–128 characters, without commas. If omitted, the tags do not change. */
  tags?: readonly string[] | undefined;
}

/** The new state of a connection. */
export interface StateChange {
  state: ConnectionState;
  /** Whether the connection is active. Unchanged if omitted. */
  active?: boolean | undefined;
  /** The reason, 1–256 characters. It is stored until the state changes, but no call returns it yet. */
  reason?: string | undefined;
}

/** A new connection. */
export interface NewConnection {
  /** A platform of the catalog, ignoring case. */
  platform: string;
  /**
   * The identity that the connection belongs to: your own identifier of the user, team, organization or project. 1–256
   * characters without commas or invisible characters, in Unicode normalization form C.
   */
  identity: string;
  identityType: IdentityType;
  /** The version of the platform's API. Default: the catalog's version. */
  platformVersion?: PlatformVersion | undefined;
  /** The display name, 1–128 characters. */
  name?: string | null | undefined;
  /**
   * Distinguishes connections of one identity to one platform; part of the key. 1–64 characters of `a-z0-9-`. Default:
   * `default`.
   */
  label?: string | undefined;
  /** At most 50 tags of 1–128 characters, without commas. */
  tags?: readonly string[] | undefined;
  /** Default: `unknown`. */
  state?: ConnectionState | undefined;
  /** Default: `true`. */
  active?: boolean | undefined;
}

/** The vault of connections. Needs the scope `connections:read`; changes need `connections:write`. */
export interface Connections {
  /** Lists connections, newest first. */
  list(filters: ConnectionFilters & { include: "account" }, options?: CallOptions): List<ConnectionWithAccount>;
  list(filters?: ConnectionFilters, options?: CallOptions): List<Connection>;
  /**
   * Returns the validation errors of `list` without a request; an empty array if there are none. Does not check whether
   * `after` is a cursor of this list.
   */
  validateList(filters?: ConnectionFilters): readonly Fault[];
  /** Retrieves a connection, active or not. */
  get(id: string, options?: CallOptions): Promise<Connection>;
  /** Replaces the tags of a connection, and returns the changed connection. */
  update(id: string, changes: ConnectionChanges, options?: ChangeOptions): Promise<Connection>;
  /**
   * Returns the validation errors of `update` without a request; an empty array if there are none. An error of the
   * whole body, such as its size, has neither `pointer` nor `parameter`.
   */
  validateUpdate(changes: ConnectionChanges): readonly Fault[];
  /** Sets the state of a connection and, if given, whether it is active. Returns the changed connection. */
  setState(id: string, change: StateChange, options?: ChangeOptions): Promise<Connection>;
  /** Returns the validation errors of `setState` without a request; an empty array if there are none. */
  validateSetState(change: StateChange): readonly Fault[];
  /** Sets the display name of a connection, 1–128 characters; null removes it. Returns the changed connection. */
  setName(id: string, name: string | null, options?: ChangeOptions): Promise<Connection>;
  /** Returns the validation errors of `setName` without a request; an empty array if there are none. */
  validateSetName(name: string | null): readonly Fault[];
  /**
   * Creates a connection. Never retried: if the response was lost, the error of the retry would not show whether this
   * call or another caller created the connection.
   */
  create(connection: NewConnection, options?: CallOptions): Promise<Connection>;
  /**
   * Returns the validation errors of `create` without a request; an empty array if there are none. Does not check
   * whether the platform or the connection exists.
   */
  validateCreate(connection: NewConnection): readonly Fault[];
  /**
   * Deletes a connection; with `ifMatch`, only if it has not changed. Succeeds if a retry after a lost response finds
   * no connection.
   */
  delete(id: string, options?: ChangeOptions): Promise<void>;
  /** Returns the health of a connection: its state, the reason, and who must act. */
  status(id: string, options?: CallOptions): Promise<ConnectionStatus>;
  /**
   * Checks a connection at its platform, and returns the updated connection. Never retried. Throws a `RateLimitError`
   * if it follows a failed check too soon.
   */
  check(id: string, options?: CallOptions): Promise<Connection>;
  /**
   * Returns the credentials of a connection. An access token that expires soon is refreshed first. Needs an API key
   * with the scope `credentials:read`.
   */
  getCredentials(id: string, query?: CredentialsQuery, options?: CallOptions): Promise<Credentials>;
  /** Imports credentials from another service. Needs an API key with the scope `credentials:write`. */
  setCredentials(id: string, credentials: NewCredentials, options?: CallOptions): Promise<void>;
  /**
   * Returns the validation errors of `setCredentials` without a request; an empty array if there are none. Does not
   * check which fields the platform's methods have.
   */
  validateSetCredentials(credentials: NewCredentials): readonly Fault[];
  /**
   * Creates connections with credentials from another service. Retried after temporary failures, because repeating an
   * import changes nothing. Needs an API key with the scope `credentials:write`.
   */
  import(connections: NewImport, options?: CallOptions): Promise<ImportResults>;
  /** Counts connections by state, platform, identity type and `active`. */
  summary(options?: CallOptions): Promise<ConnectionSummary>;
}

/** Any valid id: validation without a request has no id. */
const ANY_ID = "00000000-0000-0000-0000-000000000000";

/** @internal */
export function connections(executor: Executor): Connections {
  // These functions build calls both for sending and for validation.
  const buildList: BuildListRequest = (filters) =>
    Call.of("listConnections", [], queryString(filters, ["key", "tags"]));
  const buildUpdate = (id: string, changes: ConnectionChanges) => () =>
    Call.of("updateConnection", [stringArgument(id, "id")], "", ...serializeBody(changes, "changes"));
  const buildSetState = (id: string, change: StateChange) => () =>
    Call.of("setConnectionState", [stringArgument(id, "id")], "", ...serializeBody(change, "change"));
  const buildSetName = (id: string, name: string | null) => () =>
    Call.of("setConnectionName", [stringArgument(id, "id")], "", ...serializeBody({ name }, "name"));
  const buildSetCredentials = (id: string, credentials: NewCredentials) => () =>
    Call.of("setCredentials", [stringArgument(id, "id")], "", ...serializeBody(credentials, "credentials"));
  const buildCreate = (connection: NewConnection) => () =>
    Call.of("createConnection", [], "", ...serializeBody(connection, "connection"));

  const change = async (build: BuildRequest, options: ChangeOptions | undefined): Promise<Connection> => {
    const callOptions = checkCallOptions(options, ["signal", "ifMatch"]);
    // Not retried with `ifMatch`: if only the response was lost, the version has changed, and the retry would fail.
    return executor.send(build, { ...callOptions, repeatable: callOptions.ifMatch === undefined }, isConnection);
  };

  return {
    // The cast is safe: with `include`, the service adds `account` to each row.
    list: (filters?: ConnectionFilters, options?: CallOptions) =>
      executor.list(buildList, filters, options) as List<ConnectionWithAccount>,
    validateList: (filters) => executor.validateList(buildList, filters),
    get: async (id, options) =>
      executor.send(
        () => Call.of("readConnection", [stringArgument(id, "id")]),
        checkCallOptions(options),
        isConnection,
      ),
    update: (id, changes, options) => change(buildUpdate(id, changes), options),
    validateUpdate: (changes) => executor.validate(buildUpdate(ANY_ID, changes)),
    setState: (id, state, options) => change(buildSetState(id, state), options),
    validateSetState: (state) => executor.validate(buildSetState(ANY_ID, state)),
    setName: (id, name, options) => change(buildSetName(id, name), options),
    validateSetName: (name) => executor.validate(buildSetName(ANY_ID, name)),
    create: async (connection, options) =>
      executor.send(buildCreate(connection), { ...checkCallOptions(options), repeatable: false }, isConnection),
    validateCreate: (connection) => executor.validate(buildCreate(connection)),
    delete: async (id, options) => {
      // Retried even with `ifMatch`: if only the response was lost, the retry finds no connection, which counts as
      // success.
      const sendOptions = { ...checkCallOptions(options, ["signal", "ifMatch"]), deletes: true };
      await executor.send(
        () => Call.of("deleteConnection", [stringArgument(id, "id")]),
        sendOptions,
        (_, status) => status === 204,
      );
    },
    status: async (id, options) =>
      executor.send(
        () => Call.of("getStatus", [stringArgument(id, "id")]),
        checkCallOptions(options),
        (json) => typeof (json as Partial<ConnectionStatus> | null)?.state === "string",
      ),
    check: async (id, options) =>
      executor.send(
        () => Call.of("checkConnection", [stringArgument(id, "id")]),
        { ...checkCallOptions(options), repeatable: false },
        isConnection,
      ),
    getCredentials: async (id, query, options) =>
      executor.send(
        () => {
          const encodedQuery = queryString(copyMembers(query, "query"), []);
          return Call.of("getCredentials", [stringArgument(id, "id")], encodedQuery);
        },
        checkCallOptions(options),
        (json) => typeof (json as Partial<Credentials> | null)?.type === "string",
      ),
    setCredentials: async (id, credentials, options) => {
      await executor.send(
        buildSetCredentials(id, credentials),
        checkCallOptions(options),
        (_, status) => status === 204,
      );
    },
    validateSetCredentials: (credentials) => executor.validate(buildSetCredentials(ANY_ID, credentials)),
    import: async (connections, options) =>
      executor.send(
        () => Call.of("importConnections", [], "", ...serializeBody(connections, "connections")),
        checkCallOptions(options),
        (json) => Array.isArray((json as Partial<ImportResults> | null)?.results),
      ),
    summary: async (options) =>
      executor.send(
        () => Call.of("summary", []),
        checkCallOptions(options),
        (json) => Number.isSafeInteger((json as Partial<ConnectionSummary> | null)?.total),
      ),
  };
}
