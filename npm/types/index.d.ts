/**
 * Typed calls to a connector-vault, with the service's own validation before anything is sent.
 *
 * These declarations are kept by hand; `npm test` fails when they differ from the service's types.
 *
 * @packageDocumentation
 */

// ---------------------------------------------------------------------------------------------------------------------
// What the service stores
// ---------------------------------------------------------------------------------------------------------------------

/** The two worlds of an account: a key sees the connections of its own only. */
export type Environment = "test" | "live";

/** What kind of identity a connection belongs to. */
export type IdentityType = "user" | "team" | "organization" | "project";

/**
 * How a connection is doing.
 * - `operational`: healthy
 * - `degraded`: a token refresh failed; a retry is pending
 * - `failed`: inactive until somebody reconnects it
 * - `unknown`: could not be determined
 */
export type ConnectionState = "operational" | "degraded" | "failed" | "unknown";

/** How far a connector has come. */
export type ConnectorStatus = "generally_available" | "beta" | "alpha" | "not_available";

/** The HTTP method of an action. */
export type ActionMethod = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** What an API key may do. */
export type Scope = "catalog:read" | "connections:read" | "connections:write" | "sessions:create";

/** What a short-lived token may do. */
export type SessionScope = "catalog:read" | "connections:read" | "connections:write";

/** Version of a platform's API. */
export type PlatformVersion = `v${number}`;

/** `api::<platform>::<platformVersion>` */
export type ConnectorKey = `api::${string}::${PlatformVersion}`;

/** `<environment>::<platform>::<label>::<identity>` */
export type ConnectionKey = `${Environment}::${string}::${string}::${string}`;

/** An integration with a platform. */
export interface Connector {
  /** A positive integer, the same for the same `key` in every edition of the catalog. */
  id: number;
  /** Display name. */
  name: string;
  /** `api::<platform>::<platformVersion>` */
  key: ConnectorKey;
  /** The platform's identifier: 1 to 64 of `a-z0-9-`. */
  platform: string;
  /** Version of the platform's API: `v` and a number. */
  platformVersion: PlatformVersion;
  /** How far the connector has come. */
  status: ConnectorStatus;
  /** One line, at most 500 characters. */
  description: string;
  /** In words, for example `Developer Tools`. */
  category: string;
  /** URL of the logo, `https:` or `data:`. */
  image: string;
  /** Free-form tags. */
  tags: string[];
  /** Whether the platform offers OAuth. */
  oauth: boolean;
  /** Number of rows in the platform's action list. */
  tools: number;
  /** Version text of the platform's own description. */
  version: string;
  /** Whether the operator offers the connector. */
  active: boolean;
}

/** Something that a platform can do. */
export interface Action {
  /** Human-readable title. */
  title: string;
  /** Unique within the platform. */
  key: string;
  /** The HTTP method that the action uses. */
  method: ActionMethod;
  /** The platform that the action belongs to. */
  platform: string;
  /** The resource that the action works on, in PascalCase; possibly empty. */
  modelName: string;
}

/** A stored link between an identity and a platform. */
export interface Connection {
  /** A UUID. */
  id: string;
  /** Version of the platform's API: `v` and a number. */
  platformVersion: PlatformVersion;
  /** Display name; null when unset. */
  name: string | null;
  /** Always `api`. */
  type: "api";
  /** `<environment>::<platform>::<label>::<identity>`, unique in the account. */
  key: ConnectionKey;
  /** Which of the account's two worlds. */
  environment: Environment;
  /** The platform's identifier. */
  platform: string;
  /** Identifier of the user or entity that the connection belongs to. */
  identity: string;
  /** What kind of identity that is. */
  identityType: IdentityType;
  /** Description of the platform. */
  description: string;
  /** How the connection is doing. */
  state: ConnectionState;
  /** Exactly as they were stored: order and duplicates kept. */
  tags: string[];
  /** The revision in decimal: `"1"` when created, one more with every change. */
  version: string;
  /** Whether the connection is active. */
  active: boolean;
  /** When it was created: RFC 3339, UTC, milliseconds. */
  createdAt: string;
}

/** Exact counts of all connections that the key's account and environment has. */
export interface ConnectionSummary {
  /** All connections, active or not. */
  total: number;
  /** Counts by `active`. */
  active: Record<"true" | "false", number>;
  /** Counts by `state`. */
  state: Record<ConnectionState, number>;
  /** Counts by `identityType`. */
  identityType: Record<IdentityType, number>;
  /** The 50 platforms with the most connections, the largest first. */
  platforms: { platform: string; total: number }[];
  /** Connections of all other platforms together. */
  otherPlatforms: number;
}

/** What an API key or a token opens. */
export interface Whoami {
  /** Whose connections it opens. */
  account: string;
  /** Which of the account's two worlds. */
  environment: Environment;
  /** What it may do. */
  scopes: Scope[];
  /** When it stops being valid (RFC 3339); null for a key that does not expire. */
  expiresAt: string | null;
  /** Of a token: the identity whose connections it opens. A key's `whoami` has none of these. */
  identity?: string;
  /** Of a token: of which kind of identity; null for all. */
  identityType?: IdentityType | null;
  /** Of a token: of which platforms; null for all. */
  platforms?: string[] | null;
  /** Of a token: on pages of which origins; null for all. */
  origins?: string[] | null;
}

/** A short-lived token, for a browser to hold. `JSON.stringify` shows it: it is made to be passed on. */
export interface Session {
  /** `st_test_…` or `st_live_…`: goes where a key goes. */
  token: string;
  /** When it expires (RFC 3339). */
  expiresAt: string;
  /** Which of the account's two worlds. */
  environment: Environment;
  /** Whose connections it opens. */
  identity: string;
  /** Of which kind of identity; null for all. */
  identityType: IdentityType | null;
  /** What it may do. */
  scopes: SessionScope[];
  /** Of which platforms, in the vault and in the catalog; null for all. */
  platforms: string[] | null;
  /** On pages of which origins it is good; null for all. */
  origins: string[] | null;
}

// ---------------------------------------------------------------------------------------------------------------------
// What is asked
// ---------------------------------------------------------------------------------------------------------------------

/** Which page of a list. */
export interface Paging {
  /** Rows a page, 1 to 500; the service's default is 20. */
  limit?: number | undefined;
  /** Number of the page, from 1. */
  page?: number | undefined;
}

/** Filters of the connector list. All that are given must hold. */
export interface ConnectorFilters extends Paging {
  /** Exact, ignoring case. */
  platform?: string | undefined;
  /** When true, only connectors that the operator enabled for hosted authorization. */
  authkit?: boolean | undefined;
  /** Exact. */
  key?: string | undefined;
  /** Exact, ignoring case. */
  name?: string | undefined;
  /** Exact, ignoring case. */
  category?: string | undefined;
  /** Ranked search, ignoring case: every word must occur somewhere. 1 to 100 characters. */
  q?: string | undefined;
}

/** Filters of an action list. All that are given must hold. */
export interface ActionFilters extends Paging {
  /** Exact, ignoring case. */
  title?: string | undefined;
  /** Exact. */
  key?: string | undefined;
  /** Ignoring case. */
  method?: ActionMethod | Lowercase<ActionMethod> | undefined;
  /** Ranked search, ignoring case: every word must occur somewhere. 1 to 100 characters. */
  q?: string | undefined;
}

/** Filters of the connection list. All that are given must hold. */
export interface ConnectionFilters extends Paging {
  /** Any of these keys; at most 100. A string may hold several, separated by commas. */
  key?: string | readonly string[] | undefined;
  /** Exact. */
  platformVersion?: string | undefined;
  /** Exact, ignoring case. */
  name?: string | undefined;
  /** Exact. */
  identityType?: IdentityType | undefined;
  /** Exact. */
  identity?: string | undefined;
  /** Exact, ignoring case. */
  platform?: string | undefined;
  /** All of these tags, or any of them with `tagsMatch: "any"`; at most 20. A string may hold several, separated by commas. */
  tags?: string | readonly string[] | undefined;
  /** How `tags` are matched; `all` unless told. */
  tagsMatch?: "all" | "any" | undefined;
  /** What the name or the identity begins with, ignoring case. 1 to 100 characters. Too many matches: `query_too_broad`. */
  q?: string | undefined;
  /** Exact. */
  state?: ConnectionState | undefined;
  /** Whether the connection is active; **true** unless told. */
  active?: boolean | undefined;
  /** The `after` of a page; `next()` and iterating use it by themselves. Not together with `page`. */
  after?: string | undefined;
}

/** What can be changed of a connection. */
export interface ConnectionChanges {
  /** Replaces the whole set: at most 50 of 1 to 128 characters, without commas. Left out, nothing changes. */
  tags?: readonly string[] | undefined;
}

/** How a connection is doing from now on. */
export interface StateChange {
  /** The new state. */
  state: ConnectionState;
  /** Whether the connection is active; left out, that stays as it is. */
  active?: boolean | undefined;
  /** Why: 1 to 256 characters. Stored until the state changes; no call gives it back yet. */
  reason?: string | undefined;
}

/** A connection that is to be created. */
export interface NewConnection {
  /** A platform of the catalog, ignoring case. */
  platform: string;
  /** 1 to 256 characters, no comma; as every text in normalization form C, and without invisible characters. */
  identity: string;
  /** What kind of identity that is. */
  identityType: IdentityType;
  /** The connector's own unless told. */
  platformVersion?: PlatformVersion | undefined;
  /** 1 to 128 characters. */
  name?: string | null | undefined;
  /** Tells connections of one identity to one platform apart: 1 to 64 of `a-z0-9-`; `default` unless told. */
  label?: string | undefined;
  /** At most 50 of 1 to 128 characters, without commas. */
  tags?: readonly string[] | undefined;
  /** `unknown` unless told. */
  state?: ConnectionState | undefined;
  /** True unless told. */
  active?: boolean | undefined;
}

/** A short-lived token that is to be made. */
export interface NewSession {
  /** Whose connections it opens: 1 to 256 characters, no comma. */
  identity: string;
  /** Only those of this kind of identity; of all kinds unless told. */
  identityType?: IdentityType | undefined;
  /** What it may do, of what the key may; unless told, it may read. */
  scopes?: readonly SessionScope[] | undefined;
  /** Only these platforms of the catalog, at most 20, in the vault and in the catalog; all of them unless told. */
  platforms?: readonly string[] | undefined;
  /** Good on pages of these origins only, at most 10, for example `https://app.example.com`; of all unless told. */
  origins?: readonly string[] | undefined;
  /** Seconds until it expires, 60 to 3600; 900 unless told. It never outlives the key. */
  ttlSeconds?: number | undefined;
}

/** What every call takes. */
export interface CallOptions {
  /** Ends the call at once, with an {@link AbortError}. */
  signal?: AbortSignal | undefined;
}

/** What a call that changes or deletes a connection takes. */
export interface ChangeOptions extends CallOptions {
  /**
   * The connection as you read it, an entity tag in double quotes, or `*`: the call succeeds only if nobody has changed the connection since.
   * Otherwise it fails with a {@link PreconditionError}, and nothing is written.
   */
  ifMatch?: string | Pick<Connection, "id" | "version"> | undefined;
}

/** How many rows to collect. */
export interface ToArrayOptions {
  /** Stop at so many rows; all of them unless told. */
  max?: number | undefined;
}

// ---------------------------------------------------------------------------------------------------------------------
// Pages
// ---------------------------------------------------------------------------------------------------------------------

/** A page of a list. Iterating over it goes on over all pages that follow. */
export interface Page<Row> extends AsyncIterable<Row> {
  /** The rows of this page. */
  readonly rows: Row[];
  /** Number of rows of the whole list. */
  readonly total: number;
  /** Number of pages of the whole list. */
  readonly pages: number;
  /** Number of this page, from 1. */
  readonly page: number;
  /**
   * The cursor of the page that follows, to keep in a URL for example: `list` takes it, together with the same filters, as
   * `after`. Undefined on the last page, and in lists without cursors, which all but that of connections are.
   */
  readonly after: string | undefined;
  /**
   * The page that follows; undefined after the last one. Follows the service's cursor where there is one. The list's own
   * `signal` goes on to hold unless another one is given.
   */
  next(options?: CallOptions): Promise<Page<Row> | undefined>;
  /** The rows of this page and of those that follow. */
  toArray(options?: ToArrayOptions): Promise<Row[]>;
}

/**
 * A list: `await` it for its first page, or iterate over all of its rows.
 *
 * ```js
 * const page = await vault.connections.list({ platform: "github" });
 * for await (const connection of vault.connections.list({ platform: "github" })) { … }
 * ```
 *
 * The request is sent when you do either. Iterating asks for 100 rows at a time unless `limit`, `page` or `after` is given.
 */
export interface List<Row> extends Promise<Page<Row>>, AsyncIterable<Row> {
  /** The rows of all pages. */
  toArray(options?: ToArrayOptions): Promise<Row[]>;
}

// ---------------------------------------------------------------------------------------------------------------------
// Calls
// ---------------------------------------------------------------------------------------------------------------------

/** What a page needs of a short-lived token: the answer to `POST /v1/sessions` has it, as your backend may pass it on. */
export interface Token {
  /** `st_test_…` or `st_live_…` */
  token: string;
  /** When it expires (RFC 3339). Where it is known, the token is renewed before; else when the service refuses it. */
  expiresAt?: string | null | undefined;
}

/** How to reach the service. */
export interface ConnectorVaultOptions {
  /** Address of the service, for example `https://vault.example.com`. */
  baseUrl: string | URL;
  /**
   * Your API key (`sk_test_…` or `sk_live_…`), a short-lived token (`st_test_…` or `st_live_…`), or a function that supplies
   * one. The function is called without arguments when a call needs a secret, once for all that need one at a time: for the
   * first call, shortly before `expiresAt` (when a tenth of the time is left, or 30 seconds if that is less), and when the
   * service refuses what it gave: then the call is sent once more, whatever it is. What it fails with is the `cause` of a
   * {@link VaultError} with the code `secret_unavailable`; the next call asks it again.
   */
  secret: string | (() => string | Token | Promise<string | Token>);
  /** Sends the requests; the global `fetch` unless told. */
  fetch?: ((request: Request) => Promise<Response>) | undefined;
  /** Milliseconds after which a call fails with a {@link TimeoutError}, its retries included; 30,000 unless told. */
  timeoutMs?: number | undefined;
  /**
   * How often a call that is safe to repeat is sent again after a failure that may pass; 2 unless told. That a supplied secret
   * is renewed does not count.
   */
  maxRetries?: number | undefined;
  /** Headers to send with every request. */
  headers?: Headers | Record<string, string> | undefined;
  /**
   * An API key opens your whole account, and whoever opens a web page can read it there. So a page may hold one only
   * when you say so, as in a tool for your own staff; other pages get short-lived tokens from your server.
   */
  allowSecretInBrowser?: boolean | undefined;
}

/** A client of one service with one key. */
export declare class ConnectorVault {
  /** @throws {ValidationError} when an option can't be used */
  constructor(options: ConnectorVaultOptions);
  /** The catalog of connectors. */
  readonly connectors: Connectors;
  /** The catalogs of actions, one for each platform. */
  readonly actions: Actions;
  /** The vault of connections. */
  readonly connections: Connections;
  /** Short-lived tokens, for pages. */
  readonly sessions: Sessions;
  /** What the key or the token opens: its account, environment, scopes and expiry, and what a token is confined to. */
  whoami(options?: CallOptions): Promise<Whoami>;
}

/** The catalog of connectors. Needs the scope `catalog:read`. */
export interface Connectors {
  /** Lists connectors by name. */
  list(filters?: ConnectorFilters, options?: CallOptions): List<Connector>;
  /** What `list` would refuse filters for, without asking; see {@link Connections.validateUpdate}. */
  validateList(filters?: ConnectorFilters): readonly Fault[];
}

/** The catalogs of actions. Needs the scope `catalog:read`. */
export interface Actions {
  /** Lists the actions of a platform by title. */
  list(platform: string, filters?: ActionFilters, options?: CallOptions): List<Action>;
  /**
   * What `list` would refuse a platform and filters for, without asking; see {@link Connections.validateUpdate}. Which
   * platforms there are, only the service knows.
   */
  validateList(platform: string, filters?: ActionFilters): readonly Fault[];
}

/** The vault of connections. Needs the scope `connections:read`, to change them `connections:write`. */
export interface Connections {
  /** Lists connections, the newest first. */
  list(filters?: ConnectionFilters, options?: CallOptions): List<Connection>;
  /**
   * What `list` would refuse filters for, without asking; see {@link Connections.validateUpdate}. Whether `after` is a
   * cursor of this list, only the service knows.
   */
  validateList(filters?: ConnectionFilters): readonly Fault[];
  /** Reads one connection, inactive ones too. */
  get(id: string, options?: CallOptions): Promise<Connection>;
  /** Changes the tags of a connection and gives it as it then is. */
  update(id: string, changes: ConnectionChanges, options?: ChangeOptions): Promise<Connection>;
  /**
   * What `update` would refuse changes for: the `errors` of its {@link ValidationError}, at once and without sending anything.
   * Empty when it would send them. Where that error has no `errors`, as for a body that is too large, its message is the only
   * fault, without a `pointer` or `parameter`.
   */
  validateUpdate(changes: ConnectionChanges): readonly Fault[];
  /** Sets the state of a connection, and perhaps whether it is active; gives the connection as it then is. */
  setState(id: string, change: StateChange, options?: ChangeOptions): Promise<Connection>;
  /** What `setState` would refuse a change for, without asking; see {@link Connections.validateUpdate}. */
  validateSetState(change: StateChange): readonly Fault[];
  /** Sets the display name of a connection, 1 to 128 characters, or removes it with null; gives the connection as it then is. */
  setName(id: string, name: string | null, options?: ChangeOptions): Promise<Connection>;
  /** What `setName` would refuse a name for, without asking; see {@link Connections.validateUpdate}. */
  validateSetName(name: string | null): readonly Fault[];
  /** Creates a connection. Never sent twice: a repetition could not tell its own connection from another's. */
  create(connection: NewConnection, options?: CallOptions): Promise<Connection>;
  /**
   * What `create` would refuse a connection for, without asking; see {@link Connections.validateUpdate}. Whether there is
   * such a platform, and such a connection already, only the service knows.
   */
  validateCreate(connection: NewConnection): readonly Fault[];
  /**
   * Deletes a connection; with `ifMatch`, only as you read it. When an answer was lost and the repetition finds nothing to
   * delete, it counts as done.
   */
  delete(id: string, options?: ChangeOptions): Promise<void>;
  /** Counts connections by state, platform, kind of identity, and whether they are active. */
  summary(options?: CallOptions): Promise<ConnectionSummary>;
}

/** Short-lived tokens, which your server makes for a page. Needs an API key with the scope `sessions:create`. */
export interface Sessions {
  /**
   * Makes a token that opens the connections of one identity, for a while, and no more. Made again when the answer is lost: the
   * first one then expires unused.
   */
  create(session: NewSession, options?: CallOptions): Promise<Session>;
  /**
   * What `create` would refuse a session for, without asking; see {@link Connections.validateUpdate}. Whether the key has
   * the scopes, only the service knows.
   */
  validateCreate(session: NewSession): readonly Fault[];
}

// ---------------------------------------------------------------------------------------------------------------------
// Keys
// ---------------------------------------------------------------------------------------------------------------------

/** A connection key in parts. */
export interface ConnectionKeyParts {
  environment: Environment;
  platform: string;
  label: string;
  identity: string;
}

/** A connector key in parts. */
export interface ConnectorKeyParts {
  platform: string;
  platformVersion: PlatformVersion;
}

/**
 * Takes a connection key apart.
 * @throws {ValidationError} when it is none
 */
export declare function parseConnectionKey(key: string): ConnectionKeyParts;

/**
 * Takes a connector key apart.
 * @throws {ValidationError} when it is none
 */
export declare function parseConnectorKey(key: string): ConnectorKeyParts;

// ---------------------------------------------------------------------------------------------------------------------
// Errors
// ---------------------------------------------------------------------------------------------------------------------

/** What the service says went wrong. Each has a page at `<baseUrl>/problems/<code>`. */
export type ProblemCode =
  | "unknown_parameter"
  | "repeated_parameter"
  | "invalid_parameter"
  | "query_too_broad"
  | "invalid_body"
  | "missing_key"
  | "invalid_key"
  | "insufficient_scope"
  | "route_not_found"
  | "platform_not_found"
  | "connection_not_found"
  | "method_not_allowed"
  | "connection_exists"
  | "precondition_failed"
  | "body_too_large"
  | "unsupported_media_type"
  | "too_many_requests"
  | "internal"
  | "unavailable";

/** What this package says went wrong. */
export type ClientCode =
  /** An argument or an option that is not of the declared type. */
  | "invalid_argument"
  /** An API key in a web page. */
  | "secret_in_browser"
  /** The function in `secret` failed, which is the `cause`, or gave no secret. */
  | "secret_unavailable"
  /** No answer: no network, a wrong address, or a page that the service does not allow to call it. */
  | "connection_failed"
  /** No answer in time. */
  | "timeout"
  /** Your signal ended the call. */
  | "aborted"
  /** An answer that no connector-vault gives: is `baseUrl` right? */
  | "unexpected_response"
  /** The WebAssembly module could not be loaded or compiled, for example because the page's Content-Security-Policy forbids it. */
  | "no_webassembly";

/** What went wrong, in a word that programs can rely on. */
export type ErrorCode = ProblemCode | ClientCode;

/** One fault of what was asked: of a part of it, or of the whole when it has neither `parameter` nor `pointer`. */
export interface Fault {
  /** The parameter, argument or option. */
  parameter?: string;
  /** The place in the body, as a JSON pointer (RFC 6901). */
  pointer?: string;
  /** What is wrong, for a person. */
  detail: string;
  /** What may have been meant. */
  suggestion?: string;
}

/** Every error of this package; `catch (error) { if (error instanceof VaultError) … }`. */
export declare class VaultError extends Error {
  /** The HTTP status: the service's, or the one that it would have sent. */
  readonly status: number | undefined;
  /** What went wrong, in a word that programs can rely on. */
  readonly code: ErrorCode;
  /** Names the request in the service's log; undefined when nothing was answered. */
  readonly requestId: string | undefined;
  /** All faults of what was asked. */
  readonly errors: readonly Fault[];
  /** The answer's headers; undefined when nothing was answered. */
  readonly headers: Headers | undefined;
  /** What it came from, where something else failed first. */
  readonly cause?: unknown;
}

/**
 * Something that was asked is wrong (400 and the like). Mostly found before anything is sent: then `headers` is undefined,
 * and `status` and `code` are those of the service's answer, for example 404 and `connection_not_found` for what is no id.
 */
export declare class ValidationError extends VaultError {}
/** The key or the token is unknown, revoked or expired (401); of a supplied one, so is the one that took its place. */
export declare class AuthenticationError extends VaultError {}
/** The key is not allowed to do this (403). */
export declare class PermissionError extends VaultError {}
/** No such connection or platform (404). */
export declare class NotFoundError extends VaultError {
  /** For an unknown platform: those that may have been meant. */
  readonly suggestions: readonly string[];
}
/** There is a connection with this key already (409). */
export declare class ConflictError extends VaultError {
  /** That connection's id. */
  readonly connectionId: string | undefined;
}
/** The connection has changed since it was read (412). Nothing was written. */
export declare class PreconditionError extends VaultError {}
/** The key asks too often (429). */
export declare class RateLimitError extends VaultError {
  /** Seconds after which to try again. */
  readonly retryAfter: number | undefined;
}
/**
 * The service failed (500 and above), or gave an answer that no connector-vault gives. With an error's status, such an answer
 * is an error of that status's class; `code` is `unexpected_response` in any case.
 */
export declare class ServerError extends VaultError {
  /** Seconds after which to try again. */
  readonly retryAfter: number | undefined;
}
/** The service could not be reached; `cause` is what `fetch` failed with. */
export declare class ConnectionError extends VaultError {}
/** The call took longer than `timeoutMs`. What was asked may have been done. */
export declare class TimeoutError extends VaultError {}
/** Your signal ended the call; `cause` is its reason. What was asked may have been done. */
export declare class AbortError extends VaultError {}
