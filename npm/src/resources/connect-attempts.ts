// Attempts to connect accounts.
import { Call } from "glue";
import { copyMembers, jsonBody, queryString, stringArgument } from "../core/arguments.js";
import { type CallOptions, checkCallOptions } from "../core/options.js";
import type { Executor } from "../core/request.js";
import { type Connection, type IdentityType, isConnection } from "../types/connection.js";
import type { Fault } from "../core/errors.js";
import type { Names } from "../types/names.js";
import { iterateRows } from "../core/pages.js";
import type { AttemptFilters, AttemptQuery } from "../types/filters.js";

/** An account to connect, or a connection to reconnect. */
export interface NewConnectAttempt {
  /** A platform of the catalog, ignoring case. Needed unless `connection` is given. */
  platform?: string | undefined;
  /**
   * The id of a connection to reconnect: it keeps its id, key, tags and history. Then `platform`, `identity`,
   * `identityType`, `label`, `name` and `tags` can be omitted.
   */
  connection?: string | undefined;
  /** The id of one of the connector's `authMethods`. Default: the only one, or the one of the connection. */
  authMethod?: string | undefined;
  /**
   * The name of the OAuth client to use. Default: that of the connection, or else `default`. A token always uses the one of
   * its session.
   */
  client?: string | undefined;
  /** The identity that the connection belongs to. Default: that of the token. */
  identity?: string | undefined;
  /** The type of the identity. Default: that of the token. */
  identityType?: IdentityType | undefined;
  /** Distinguishes connections of one identity to one platform. Default: `default`. */
  label?: string | undefined;
  /** The display name, 1–128 characters. */
  name?: string | null | undefined;
  /** At most 50 tags of 1–128 characters, without commas. */
  tags?: readonly string[] | undefined;
  /**
   * The values that the user entered, by the names of the method's `fields`. If a link leads to the connect window: values
   * that the user can change there, no secrets.
   */
  fields?: Readonly<Record<string, string>> | undefined;
  /** Values that the user can't change, no secrets. */
  fixedFields?: Readonly<Record<string, string>> | undefined;
  /** The language of the pages that the user sees, as a BCP 47 tag. Default: that of the token, or of the browser. */
  lang?: string | undefined;
  /** The scopes to ask the platform for. Default: those of the OAuth client. */
  scopes?: readonly string[] | undefined;
  /** Where the browser returns to afterwards, with `connect=<id>` in the query. Its origin must be allowed. */
  returnUrl?: string | undefined;
  /** Whether a reconnect may switch to another account at the platform. Default: `false`. */
  allowOtherAccount?: boolean | undefined;
  /**
   * Whether to always return a link. If the user has to enter a key, fill in a field or choose a method, the link leads to
   * the connect window. Default: `false`.
   */
  link?: boolean | undefined;
}

/** An attempt that waits for the user, who has to open `authorizationUrl`. */
export interface PendingAttempt {
  /** Identifies the attempt. */
  id: string;
  /** Always `pending`. */
  status: "pending";
  /** A link for the user: it leads to the platform. It works once. */
  authorizationUrl: string;
  /** When the attempt expires (RFC 3339). */
  expiresAt: string;
}

/** The status of an attempt. */
export type AttemptStatus = Names["AttemptStatus"];

/** The code of a failed attempt. */
export type AttemptErrorCode = Names["AttemptErrorCode"];

/** The error of a failed attempt. */
export interface AttemptError {
  /** The reason, for programs. */
  code: AttemptErrorCode;
  /** The human-readable reason. */
  detail: string;
}

/** An attempt to connect an account. */
export interface ConnectAttempt {
  /** Identifies the attempt. */
  id: string;
  /** The platform's identifier. */
  platform: string;
  /** The status of the attempt. */
  status: AttemptStatus;
  /** The connection, if it succeeded. */
  connection: Connection | null;
  /** The error, if the attempt failed. */
  error: AttemptError | null;
  /** When the attempt expires (RFC 3339). */
  expiresAt: string;
}

/** An attempt to connect an account, in a list. */
export interface AttemptSummary extends Pick<ConnectAttempt, "id" | "platform" | "status" | "error" | "expiresAt"> {
  /** The id of one of the connector's `authMethods`. */
  authMethod: string;
  /** The name of the OAuth client. */
  client: string;
  /** The identity that the connection belongs to. */
  identity: string;
  /** The type of the identity. */
  identityType: IdentityType;
  /** The id of the connection that it has created, or that it reconnects; null if there is none. */
  connection: string | null;
  /** When it began (RFC 3339). */
  createdAt: string;
}

/** A page of attempts. */
export interface AttemptPage {
  /** The attempts, the newest first. */
  rows: AttemptSummary[];
  /** The cursor for `before`; null on the last page. */
  next: string | null;
}

/**
 * Attempts to connect accounts, for servers, and for pages that do not use the window of `vault.connect`. Needs the scope
 * `connections:connect`.
 */
export interface ConnectAttempts {
  /**
   * Starts an attempt. Returns the connection if the user's credentials are in `fields`. If the user must go to the
   * platform, it returns an attempt with an `authorizationUrl`. Never retried.
   */
  start(attempt: NewConnectAttempt, options?: CallOptions): Promise<Connection | PendingAttempt>;
  /**
   * Returns the errors that `start` would find in this attempt, without a request; an empty array if there are none. Only
   * the service knows the fields of the platform's methods.
   */
  validateStart(attempt: NewConnectAttempt): readonly Fault[];
  /** Returns an attempt that you started. */
  get(id: string, query?: AttemptQuery, options?: CallOptions): Promise<ConnectAttempt>;
  /**
   * Iterates over attempts, the newest first; they are kept for at least a day after they expire. Needs the scope
   * `connections:read`.
   */
  list(filters?: AttemptFilters, options?: CallOptions): AsyncIterable<AttemptSummary>;
  /** Returns one page of attempts. It can have fewer rows than `limit`, or none, although more follow. */
  page(filters?: AttemptFilters, options?: CallOptions): Promise<AttemptPage>;
}

/** @internal */
export function connectAttempts(executor: Executor): ConnectAttempts {
  const buildStart = (attempt: NewConnectAttempt) => () => Call.of("connect", [], "", ...jsonBody(attempt, "attempt"));
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
