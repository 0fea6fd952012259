// OAuth clients: registrations of your app at platforms.
import { Call } from "glue";
import { jsonBody, queryString, stringArgument } from "../core/arguments.js";
import { type CallOptions, type CheckedCallOptions, checkCallOptions } from "../core/options.js";
import type { Executor, BuildListRequest } from "../core/request.js";
import type { Fault } from "../core/errors.js";
import type { List, Paging } from "../core/pages.js";

/** The registration of your app at a platform. Its secret is never returned. */
export interface OauthClient {
  /** The platform's identifier. */
  platform: string;
  /** The name, which distinguishes the clients of a platform. */
  name: string;
  /** The id of the connector's auth method; null for the first that uses OAuth. */
  authMethod: string | null;
  /** The client's id at the platform. */
  clientId: string;
  /** Whether the service has the client's secret. */
  hasSecret: boolean;
  /** The scopes to ask users for. */
  scopes: string[];
  /** More parameters of the authorization request. */
  authorizationParameters: Record<string, string>;
  /** Variables of the platform's URLs, by name. */
  variables: Record<string, string>;
  /** The page of your app where users start to connect; null for none. */
  startUrl: string | null;
  /** Whether authorization requests use PKCE (RFC 7636); null for the catalog's value. */
  pkce: "S256" | "none" | null;
  /** The redirect URI to register at the platform. */
  redirectUri: string;
  /** Since when the platform has rejected the client (RFC 3339); null if it has not. Setting the client clears this. */
  rejectedSince: string | null;
  /** When it was first set (RFC 3339). */
  createdAt: string;
  /** When it was last set (RFC 3339). */
  updatedAt: string;
  /** Possible mistakes in the client, such as that it requests no scopes. Only in the result of `set`. */
  warnings?: string[];
}

/** The registration of your app at a platform. */
export interface NewOauthClient {
  /** The id of one of the connector's `authMethods`. Default: the first that uses OAuth. */
  authMethod?: string | undefined;
  /** The client's id at the platform. */
  clientId: string;
  /**
   * The client's secret, or its private key as a JSON Web Key where the method's `tokenAuth` is `private_key_jwt`. If
   * omitted, it stays as long as `clientId` is the same; null removes it.
   */
  clientSecret?: string | null | undefined;
  /** The scopes to ask users for, at most 200. */
  scopes?: readonly string[] | undefined;
  /** More parameters of the authorization request. */
  authorizationParameters?: Readonly<Record<string, string>> | undefined;
  /** Variables of the platform's URLs, by name. */
  variables?: Readonly<Record<string, string>> | undefined;
  /** The page of your app where users start to connect, for visits that begin at the platform. */
  startUrl?: string | undefined;
  /** Whether authorization requests use PKCE. Default: the catalog's value. */
  pkce?: "S256" | "none" | undefined;
}

/** Options of a call, with the name of one of the platform's clients. */
export interface OauthClientOptions extends CallOptions {
  /** The name of the client: 1–40 of a-z, 0-9 and -. Default: `default`. */
  name?: string | undefined;
}

/** OAuth clients. Needs the scope `clients:read`; changes need `clients:write`. */
export interface OauthClients {
  /** Lists the clients by platform and name. */
  list(paging?: Paging, options?: CallOptions): List<OauthClient>;
  /** Returns the errors that `list` would find, without a request; an empty array if there are none. */
  validateList(paging?: Paging): readonly Fault[];
  /** Returns the client for a platform. */
  get(platform: string, options?: OauthClientOptions): Promise<OauthClient>;
  /** Sets the client for a platform, and returns it. With names, a platform can have several. */
  set(platform: string, client: NewOauthClient, options?: OauthClientOptions): Promise<OauthClient>;
  /**
   * Returns the errors that `set` would find in this client, without a request; an empty array if there are none. Only
   * the service knows whether the platform exists.
   */
  validateSet(client: NewOauthClient): readonly Fault[];
  /** Deletes the client for a platform. Connections that need it can't be refreshed afterwards. */
  delete(platform: string, options?: OauthClientOptions): Promise<void>;
}

/** A valid platform, for validating the rest of a call. */
const ANY_PLATFORM = "any";

/** Splits the options into the query, which names the client, and the options of the call. */
function splitOptions(options: OauthClientOptions | undefined): [string, CheckedCallOptions] {
  const { name, ...rest } = options ?? {};
  return [name === undefined ? "" : queryString({ name }, []), checkCallOptions(options && rest)];
}

/** @internal */
export function oauthClients(executor: Executor): OauthClients {
  const buildList: BuildListRequest = (filters) => Call.of("listOauthClients", [], queryString(filters, []));
  const buildSet = (platform: string, client: NewOauthClient, query: string) => () =>
    Call.of("setOauthClient", [stringArgument(platform, "platform")], query, ...jsonBody(client, "client"));
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
