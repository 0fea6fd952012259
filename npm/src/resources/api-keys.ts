import { Call } from "glue";
import { copyMembers, serializeBody, queryString, stringArgument } from "../core/arguments.js";
import { type CallOptions, checkCallOptions } from "../core/options.js";
import type { Executor, BuildRequest } from "../core/request.js";
import type { Fault } from "../core/errors.js";
import type { Names } from "../types/names.js";
import type { Scope } from "./sessions.js";
import { iterateRows } from "../core/pages.js";
import type { ApiKeyQuery } from "../types/filters.js";

/** Whether an API key can be used. */
export type ApiKeyState = Names["KeyState"];

/** An API key, without its secret. */
export interface ApiKey {
  /** Does not reveal the secret. */
  id: string;
  name: string | null;
  scopes: Scope[];
  state: ApiKeyState;
  /** When the key was created (RFC 3339). */
  createdAt: string;
  /** When the key expires (RFC 3339); null for never. */
  expiresAt: string | null;
  /** When the key was revoked (RFC 3339); null if it is not revoked. */
  revokedAt: string | null;
  /** The day of the last use in UTC, such as `2030-01-31`; null if no use is recorded. */
  lastUsedOn: string | null;
  /** The id of the key that replaces this one; null if there is none. */
  replacedBy: string | null;
  /** The id of the key that created this one; null if the operator created it. */
  createdBy: string | null;
  /** Whether this client uses the key. */
  current: boolean;
}

/** An API key with its newly generated secret. */
export interface ApiKeyWithSecret extends ApiKey {
  /** The secret to send with requests. Store it: it is returned only once. */
  secret: string;
}

/** A new API key. */
export interface NewApiKey {
  /** The name of the key, 1–128 characters. */
  name?: string | null | undefined;
  /** The scopes of the key: a subset of those of the client's key. */
  scopes: readonly Scope[];
  /** When the key expires (RFC 3339), not later than the client's own key. Default: the expiry of the client's key. */
  expiresAt?: string | null | undefined;
}

/** A page of API keys. */
export interface ApiKeyPage {
  /** Newest first. */
  rows: ApiKey[];
  /** The cursor for `before`; null on the last page. */
  next: string | null;
}

/** API keys. Needs the scope `keys:read`; changes need `keys:write`. Only API keys can have these scopes. */
export interface ApiKeys {
  /** Iterates over the keys of the account and environment, newest first, including revoked and expired ones. */
  list(query?: ApiKeyQuery, options?: CallOptions): AsyncIterable<ApiKey>;
  page(query?: ApiKeyQuery, options?: CallOptions): Promise<ApiKeyPage>;
  /** Creates a key. Never retried, because a retry could create a second key. */
  create(key: NewApiKey, options?: CallOptions): Promise<ApiKeyWithSecret>;
  /** Returns the validation errors of `create` without a request; an empty array if there are none. */
  validateCreate(key: NewApiKey): readonly Fault[];
  /** Creates a key that replaces this one, which stays valid for 24 hours. Never retried. */
  rotate(id: string, options?: CallOptions): Promise<ApiKeyWithSecret>;
  /** Revokes a key immediately, and also its tokens and the keys that were created with it. */
  revoke(id: string, options?: CallOptions): Promise<void>;
}

const hasRows = (json: unknown) => Array.isArray((json as { rows?: unknown } | null)?.rows);
const hasSecret = (json: unknown) => typeof (json as Partial<ApiKeyWithSecret> | null)?.secret === "string";

/** @internal */
export function apiKeys(executor: Executor): ApiKeys {
  const withoutRetries = (options: CallOptions | undefined) => ({ ...checkCallOptions(options), repeatable: false });
  const buildCreate =
    (key: NewApiKey): BuildRequest =>
    () =>
      Call.of("createKey", [], "", ...serializeBody(key, "key"));
  const page: ApiKeys["page"] = async (query, options) => {
    const encodedQuery = queryString(copyMembers(query, "query"), []);
    return executor.send(() => Call.of("listKeys", [], encodedQuery), checkCallOptions(options), hasRows);
  };
  return {
    async *list(query, options) {
      yield* iterateRows(copyMembers(query, "query"), (query) => page(query, options), "before");
    },
    page,
    create: async (key, options) => executor.send(buildCreate(key), withoutRetries(options), hasSecret),
    validateCreate: (key) => executor.validate(buildCreate(key)),
    rotate: async (id, options) =>
      executor.send(() => Call.of("rotateKey", [stringArgument(id, "id")]), withoutRetries(options), hasSecret),
    revoke: async (id, options) => {
      // Can be retried: revoking a revoked key succeeds.
      await executor.send(
        () => Call.of("revokeKey", [stringArgument(id, "id")]),
        checkCallOptions(options),
        (_, status) => status === 204,
      );
    },
  };
}
