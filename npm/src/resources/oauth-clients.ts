// OAuth clients: registrations of your app at platforms.
import { Call } from "glue";
import { serializeBody, queryString, stringArgument } from "../core/arguments.js";
import { type CallOptions, type CheckedCallOptions, checkCallOptions } from "../core/options.js";
import type { Executor, BuildListRequest } from "../core/request.js";
import type { Fault } from "../core/errors.js";
import type { List, Paging } from "../core/pages.js";

/** An OAuth client: the registration of your app at a platform. The service never returns its secret. */
export interface OauthClient {
  platform: string;
  /** Distinguishes the clients of a platform. */
  name: string;
  /** The id of the connector's auth method; null for its first OAuth method. */
  authMethod: string | null;
  /** The client's id at the platform. */
  clientId: string;
  /** Whether the service has the client's secret. */
  hasSecret: boolean;
  /** The scopes to request from users. */
  scopes: string[];
  /** Additional parameters of the authorization request. */
  authorizationParameters: Record<string, string>;
  /** Values of variables in the platform's URLs, by name. */
  variables: Record<string, string>;
  /** The page of your app where users start to connect; null for none. */
  startUrl: string | null;
  /** The PKCE method of authorization requests (RFC 7636); null for the catalog's value. */
  pkce: "S256" | "none" | null;
  /** The redirect URI to register at the platform. */
  redirectUri: string;
  /** When the platform first rejected the client (RFC 3339); null if it accepts it. Setting the client resets this. */
  rejectedSince: string | null;
  /** When the client was first set (RFC 3339). */
  createdAt: string;
  /** When the client was last set (RFC 3339). */
  updatedAt: string;
  /** Possible mistakes in the client, such as missing scopes. Only in the result of `set`. */
  warnings?: string[];
}

/** An OAuth client to set. */
export interface NewOauthClient {
  /** The id of one of the connector's `authMethods`. Default: the first OAuth method. */
  authMethod?: string | undefined;
  /** The client's id at the platform. */
  clientId: string;
  /**
   * The client's secret. If the method's `tokenAuth` is `private_key_jwt`, its private key as a JSON Web Key. If
   * omitted, it does not change unless `clientId` changes. Null removes it.
   */
  clientSecret?: string | null | undefined;
  /** The scopes to request from users, at most 200. */
  scopes?: readonly string[] | undefined;
  /** Additional parameters of the authorization request. */
  authorizationParameters?: Readonly<Record<string, string>> | undefined;
  /** Values of variables in the platform's URLs, by name. */
  variables?: Readonly<Record<string, string>> | undefined;
  /** The page of your app where users start to connect. Users who come from the platform are redirected to it. */
  startUrl?: string | undefined;
  /** The PKCE method of authorization requests. Default: the catalog's value. */
  pkce?: "S256" | "none" | undefined;
}

/** Options of a call that concerns one of the platform's clients. */
export interface OauthClientOptions extends CallOptions {
  /** The name of the client: 1–40 characters of `a-z0-9-`. Default: `default`. */
  name?: string | undefined;
}

/** OAuth clients. Needs the scope `clients:read`; changes need `clients:write`. */
export interface OauthClients {
  /** Lists the clients, ordered by platform and name. */
  list(paging?: Paging, options?: CallOptions): List<OauthClient>;
  /** Returns the validation errors of `list` without a request; an empty array if there are none. */
  validateList(paging?: Paging): readonly Fault[];
  /** Retrieves a client of a platform. */
  get(platform: string, options?: OauthClientOptions): Promise<OauthClient>;
  /**
   * Creates or replaces a client of a platform, and returns it. A platform can have several clients with different
   * names.
   */
  set(platform: string, client: NewOauthClient, options?: OauthClientOptions): Promise<OauthClient>;
  /**
   * Returns the validation errors of `set` without a request; an empty array if there are none. Does not check whether
   * the platform exists.
   */
  validateSet(client: NewOauthClient): readonly Fault[];
  /** Deletes a client of a platform. Connections that use it can't be refreshed afterwards. */
  delete(platform: string, options?: OauthClientOptions): Promise<void>;
}

/** Any valid platform: validation without a request has no platform. */
const ANY_PLATFORM = "any";

/** Splits the options into the query string with the client's name, and the options of the call. */
function splitOptions(options: OauthClientOptions | undefined): [string, CheckedCallOptions] {
  const { name, ...rest } = options ?? {};
  return [name === undefined ? "" : queryString({ name }, []), checkCallOptions(options && rest)];
}

/** @internal */
export function oauthClients(executor: Executor): OauthClients {
  const buildList: BuildListRequest = (filters) => Call.of("listOauthClients", [], queryString(filters, []));
  const buildSet = (platform: string, client: NewOauthClient, query: string) => () =>
    Call.of("setOauthClient", [stringArgument(platform, "platform")], query, ...serializeBody(client, "client"));
  const isClient = (json: unknown) => typeof (json as Partial<OauthClient> | null)?.clientId === "string";
  return {
    list: (paging, options) => executor.list(buildList, paging, options),
    validateList: (paging) => executor.validateList(buildList, paging),
    get: async (platform, options) => {
      const [query, checked] = splitOptions(options);
      return executor.send(
        () => Call.of("getOauthClient", [stringArgument(platform, "platform")], query),
        checked,
        isClient,
      );
    },
    set: async (platform, client, options) => {
      const [query, checked] = splitOptions(options);
      return executor.send(buildSet(platform, client, query), checked, isClient);
    },
    validateSet: (client) => executor.validate(buildSet(ANY_PLATFORM, client, "")),
    delete: async (platform, options) => {
      const [query, checked] = splitOptions(options);
      await executor.send(
        () => Call.of("deleteOauthClient", [stringArgument(platform, "platform")], query),
        { ...checked, deletes: true },
        (_, status) => status === 204,
      );
    },
  };
}
