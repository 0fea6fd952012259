// Attempts to connect accounts.
import { Call } from "glue";
import { copyMembers, serializeBody, queryString, stringArgument } from "../core/arguments.js";
import { type CallOptions, checkCallOptions } from "../core/options.js";
import type { Executor } from "../core/request.js";
import { type Connection, type IdentityType, isConnection } from "../types/connection.js";
import type { Fault } from "../core/errors.js";
import type { Names } from "../types/names.js";
import { iterateRows } from "../core/pages.js";
import type { AttemptFilters, AttemptQuery } from "../types/filters.js";

/** An account to connect, or a connection to reconnect. */
export interface NewConnectAttempt {
  /** A platform of the catalog, ignoring case. Required unless `connection` is set. */
  platform?: string | undefined;
  /**
   * The id of a connection to reconnect, which keeps its id, key, tags and history. With it, `platform`, `identity`,
   * `identityType`, `label`, `name` and `tags` can be omitted.
   */
  connection?: string | undefined;
  /** The id of one of the connector's `authMethods`. Default: the only method, or the method of `connection`. */
  authMethod?: string | undefined;
  /**
   * The name of the OAuth client to use. Default: the client of `connection`, otherwise `default`. With a token, always
   * the client that was set when the token was created.
   */
  client?: string | undefined;
  /** The identity that the connection belongs to. Default: the token's identity. */
  identity?: string | undefined;
  /** Default: the token's identity type. */
  identityType?: IdentityType | undefined;
  /** Distinguishes connections of one identity to one platform. Default: `default`. */
  label?: string | undefined;
  /** The display name, 1–128 characters. */
  name?: string | null | undefined;
  /** At most 50 tags of 1–128 characters, without commas. */
  tags?: readonly string[] | undefined;
  /**
   * The values that the user entered, by the names of the method's `fields`. With a link to the connect window, these
   * are initial values that the user can change, and must not be secrets.
   */
  fields?: Readonly<Record<string, string>> | undefined;
  /** Values that the user can't change. Must not be secrets. */
  fixedFields?: Readonly<Record<string, string>> | undefined;
  /** The language of the user's pages, as a BCP 47 tag. Default: the token's language, otherwise the browser's. */
  lang?: string | undefined;
  /** The scopes to request from the platform. Default: the scopes of the OAuth client. */
  scopes?: readonly string[] | undefined;
  /** Where to redirect the browser afterwards, with `connect=<id>` in the query. The origin must be allowed. */
  returnUrl?: string | undefined;
  /** Whether a reconnect may switch to another account at the platform. Default: `false`. */
  allowOtherAccount?: boolean | undefined;
  /**
   * Always returns a link. If the user has to enter a key, fill in a field or choose a method, the link opens the
   * connect window. Default: `false`.
   */
  link?: boolean | undefined;
}

/** An attempt that waits until the user opens `authorizationUrl`. */
export interface PendingAttempt {
  id: string;
  /** Always `pending`. */
  status: "pending";
  /** A link to the platform, or to the connect window, for the user. It works once. */
  authorizationUrl: string;
  /** When the attempt expires (RFC 3339). */
  expiresAt: string;
}

export type AttemptStatus = Names["AttemptStatus"];

/** The code of a failed attempt. */
export type AttemptErrorCode = Names["AttemptErrorCode"];

export interface AttemptError {
  /** For programs. */
  code: AttemptErrorCode;
  /** For humans. */
  detail: string;
}

/** An attempt to connect an account. */
export interface ConnectAttempt {
  id: string;
  platform: string;
  status: AttemptStatus;
  /** Null unless the attempt succeeded. */
  connection: Connection | null;
  /** Null unless the attempt failed. */
  error: AttemptError | null;
  /** When the attempt expires (RFC 3339). */
  expiresAt: string;
}

/** An attempt to connect an account, in a list. */
export interface AttemptSummary extends Pick<ConnectAttempt, "id" | "platform" | "status" | "error" | "expiresAt"> {
  /** The id of one of the connector's `authMethods`. */
  authMethod: string;
  client: string;
  identity: string;
  identityType: IdentityType;
  /** The id of the new or reconnected connection; null if there is none. */
  connection: string | null;
  /** When the attempt started (RFC 3339). */
  createdAt: string;
}

export interface AttemptPage {
  /** Newest first. */
  rows: AttemptSummary[];
  /** The cursor for `before`; null on the last page. */
  next: string | null;
}

/**
 * Attempts to connect accounts: for servers, and for pages that do not use `vault.connect`. Needs the scope
 * `connections:connect`.
 */
export interface ConnectAttempts {
  /**
   * Starts an attempt. If `fields` contains the user's credentials, returns the connection. If the user must visit the
   * platform, returns an attempt with an `authorizationUrl`. Never retried.
   */
  start(attempt: NewConnectAttempt, options?: CallOptions): Promise<Connection | PendingAttempt>;
  /**
   * Returns the validation errors of `start` without a request; an empty array if there are none. Does not check which
   * fields the platform's methods have.
   */
  validateStart(attempt: NewConnectAttempt): readonly Fault[];
  /** Retrieves an attempt. With `wait`, the response is delayed until the attempt ends. */
  get(id: string, query?: AttemptQuery, options?: CallOptions): Promise<ConnectAttempt>;
  /**
   * Iterates over attempts, newest first. The service stores them for at least a day after they expire. Needs the scope
   * `connections:read`.
   */
  list(filters?: AttemptFilters, options?: CallOptions): AsyncIterable<AttemptSummary>;
  /** Returns one page of attempts. A page can have fewer rows than `limit`, or none, although others follow. */
  page(filters?: AttemptFilters, options?: CallOptions): Promise<AttemptPage>;
}

/** @internal */
export function connectAttempts(executor: Executor): ConnectAttempts {
  const buildStart = (attempt: NewConnectAttempt) => () =>
    Call.of("connect", [], "", ...serializeBody(attempt, "attempt"));
  const page: ConnectAttempts["page"] = async (filters, options) => {
    const encodedQuery = queryString(copyMembers(filters, "filters"), ["status"]);
    return executor.send(
      () => Call.of("listAttempts", [], encodedQuery),
      checkCallOptions(options),
      (json) => Array.isArray((json as Partial<AttemptPage> | null)?.rows),
    );
  };
  return {
    start: async (attempt, options) =>
      executor.send(buildStart(attempt), { ...checkCallOptions(options), repeatable: false }, (json, status) =>
        status === 202 ? isPending(json) : isConnection(json),
      ),
    validateStart: (attempt) => executor.validate(buildStart(attempt)),
    get: async (id, query, options) =>
      executor.send(
        () => {
          const encodedQuery = queryString(copyMembers(query, "query"), []);
          return Call.of("getAttempt", [stringArgument(id, "id")], encodedQuery);
        },
        checkCallOptions(options),
        (json) => typeof (json as Partial<ConnectAttempt> | null)?.status === "string",
      ),
    async *list(filters, options) {
      yield* iterateRows(copyMembers(filters, "filters"), (query) => page(query, options), "before");
    },
    page,
  };
}

const isPending = (json: unknown) => typeof (json as Partial<PendingAttempt> | null)?.authorizationUrl === "string";
