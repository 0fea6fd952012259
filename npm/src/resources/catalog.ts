// The catalog of connectors and their actions.
import { Call } from "glue";
import type { ActionDetail, ActionResponse } from "../types/action.js";
import { copyMembers, serializeBody, queryString, stringArgument } from "../core/arguments.js";
import { type CallOptions, checkCallOptions } from "../core/options.js";
import type { ActionAnswer, ActionInput } from "./proxy.js";
import type { Executor, BuildListRequest } from "../core/request.js";
import type { AuthMethod, ConnectorServer, PlatformRequest, VerifyRequest } from "../types/auth-method.js";
import type { Fault } from "../core/errors.js";
import type { ConnectorKey, PlatformVersion } from "../types/keys.js";
import type { Names } from "../types/names.js";
import type { List } from "../core/pages.js";
import type { ActionFilters, ActionQuery, ActionSearch, ConnectorFilters } from "../types/filters.js";

/** The release stage of a connector. */
export type ConnectorStatus = Names["ConnectorStatus"];

export type ActionMethod = Names["ActionMethod"];

/** A platform that users can connect. */
export interface Connector {
  /** A positive integer, derived from `key`, so that it stays the same after every import. */
  id: number;
  name: string;
  /** `api::<platform>::<platformVersion>` */
  key: ConnectorKey;
  /** The platform's identifier: 1–64 characters of `a-z0-9-`. */
  platform: string;
  /** The version of the platform's API: `v` and a number. */
  platformVersion: PlatformVersion;
  /** The release stage of the connector. */
  status: ConnectorStatus;
  /** A one-line description, at most 500 characters. */
  description: string;
  /** Such as `Developer Tools`; `Other` if unknown. */
  category: string;
  /** The absolute URL of the logo. Logos of well-known brands are on the service's own origin. */
  image: string;
  tags: string[];
  /** Whether the platform offers OAuth. */
  oauth: boolean;
  /** The number of actions. */
  tools: number;
  /** The version from the platform's own OpenAPI document. */
  version: string;
  /** Whether the operator has enabled the connector. */
  active: boolean;
}

/** Where a JSON response contains the next page of a list. */
export interface Pagination {
  /** The JSON Pointer of the next page's URL, or of the value of `parameter`. */
  next: string;
  /** The query parameter to send the value in; null if the value is a URL. */
  parameter: string | null;
  /** The JSON Pointer of the array whose last item has the value of `next`; null if `next` points into the response. */
  items: string | null;
  /** The JSON Pointer of a boolean that says whether there is another page; null if the presence of `next` says so. */
  more: string | null;
}

/** A connector, with its auth methods and the servers of the platform's API. */
export interface ConnectorDetail extends Connector {
  /** Preferred method first. */
  authMethods: AuthMethod[];
  /** Default server first. */
  servers: ConnectorServer[];
  /**
   * Headers of every request to the platform, with any auth method. Values are templates, as in `AuthMethod.headers`.
   */
  headers: Record<string, string>;
  /** The URL of the platform's documentation; null if unknown. */
  documentationUrl: string | null;
  /** The licence of the imported OpenAPI document; null if unknown. */
  license: { name: string | null; url: string | null } | null;
  /** A request that only succeeds with valid credentials; null if unknown. */
  verify: VerifyRequest | null;
  /** The request that identifies the account; null if unknown. `id` and `name` are JSON Pointers into the response. */
  account: (PlatformRequest & { id: string; name: string | null }) | null;
  /** Where responses contain the next page, in addition to the header `Link`. The first entry that matches applies. */
  pagination: Pagination[];
}

/** An operation of a platform's API. */
export interface Action {
  /** A one-line title. */
  title: string;
  /** Unique within the platform. */
  key: string;
  method: ActionMethod;
  platform: string;
  /** The resource that the action reads or changes, in PascalCase. Can be empty. */
  modelName: string;
}

/** An action that matches a search. */
export interface ActionMatch extends Action {
  /** True if the token's identity has connected the platform. Only with a token that has `connections:read`. */
  connected?: true;
}

/** The catalog of connectors. Needs the scope `catalog:read`. */
export interface Connectors {
  /** Lists connectors by name. */
  list(filters?: ConnectorFilters, options?: CallOptions): List<Connector>;
  /** Returns the validation errors of `list` without a request; an empty array if there are none. */
  validateList(filters?: ConnectorFilters): readonly Fault[];
  /**
   * Retrieves a connector with its auth methods.
   *
   * @throws {NotFoundError} if the platform is not in the catalog
   */
  get(platform: string, options?: CallOptions): Promise<ConnectorDetail>;
}

/** The actions of each platform. Needs the scope `catalog:read`, and `connections:call` to run them. */
export interface Actions {
  /**
   * Searches the actions of all platforms, best match first. `q` can be a phrase in plain English. `total` is exact up
   * to 10,000; see `totalIsMinimum`.
   */
  search(query: ActionSearch, options?: CallOptions): List<ActionMatch>;
  /** Returns the validation errors of `search` without a request; an empty array if there are none. */
  validateSearch(query: ActionSearch): readonly Fault[];
  /** Lists the actions of a platform by title. */
  list(platform: string, filters?: ActionFilters, options?: CallOptions): List<Action>;
  /**
   * Returns the validation errors of `list` without a request; an empty array if there are none. Does not check whether
   * the platform exists.
   */
  validateList(platform: string, filters?: ActionFilters): readonly Fault[];
  /**
   * Retrieves an action with its parameters and authorization.
   *
   * @throws {NotFoundError} if the platform or the action does not exist
   */
  get(
    platform: string,
    key: string,
    query: ActionQuery & { include: "responses" },
    options?: CallOptions,
  ): Promise<ActionDetail & { responses: ActionResponse[] }>;
  get(platform: string, key: string, query?: ActionQuery, options?: CallOptions): Promise<ActionDetail>;
  /**
   * Runs an action as a connected account. Returns the platform's response, including error responses. Never retried.
   *
   * @throws {ValidationError} if the input is not valid for the action; `errors` lists all errors
   * @throws {ServerError} if the platform can't be reached, or does not respond in time
   */
  run(connection: string, key: string, input: ActionInput, options?: CallOptions): Promise<ActionAnswer>;
}

/** @internal */
export function connectors(executor: Executor): Connectors {
  const buildList: BuildListRequest = (filters) => Call.of("listConnectors", [], queryString(filters, []));
  return {
    list: (filters, options) => executor.list(buildList, filters, options),
    validateList: (filters) => executor.validateList(buildList, filters),
    get: async (platform, options) =>
      executor.send(
        () => Call.of("getConnector", [stringArgument(platform, "platform")]),
        checkCallOptions(options),
        (json) => Array.isArray((json as Partial<ConnectorDetail> | null)?.authMethods),
      ),
  };
}

/** @internal */
export function actions(executor: Executor): Actions {
  const buildList =
    (platform: string): BuildListRequest =>
    (filters) => {
      const query = queryString(filters, []);
      return Call.of("listActions", [stringArgument(platform, "platform")], query);
    };
  const buildSearch: BuildListRequest = (query) => Call.of("searchActions", [], queryString(query, ["platform"]));
  return {
    search: (query, options) => executor.list(buildSearch, query, options),
    validateSearch: (query) => executor.validateList(buildSearch, query),
    list: (platform, filters, options) => executor.list(buildList(platform), filters, options),
    validateList: (platform, filters) => executor.validateList(buildList(platform), filters),
    get: async (platform: string, key: string, query?: ActionQuery, options?: CallOptions) =>
      executor.send<ActionDetail & { responses: ActionResponse[] }>(
        () => {
          const encodedQuery = queryString(copyMembers(query, "query"), []);
          return Call.of("getAction", [stringArgument(platform, "platform"), stringArgument(key, "key")], encodedQuery);
        },
        checkCallOptions(options),
        (json) => Array.isArray((json as Partial<ActionDetail> | null)?.parameters),
      ),
    run: async (connection, key, input, options) =>
      executor.send(
        () =>
          Call.of(
            "runAction",
            [stringArgument(connection, "connection"), stringArgument(key, "key")],
            "",
            ...serializeBody(input, "input"),
          ),
        { ...checkCallOptions(options), repeatable: false },
        (json) => typeof (json as Partial<ActionAnswer> | null)?.status === "number",
      ),
  };
}
