// Actions with their parameters, body, authorization and responses.
import type { Action } from "../resources/catalog.js";

/** A JSON Schema (2020-12) with the keywords that the service stores. `true` and `{}` allow any value. */
export type JsonSchema = boolean | JsonSchemaObject;

export type JsonType = "string" | "number" | "integer" | "boolean" | "array" | "object" | "null";

/** A JSON Schema other than `true` or `false`. It can have more keywords than these. */
export interface JsonSchemaObject {
  /** A reference to a definition: `#`, then a JSON Pointer. */
  $ref?: string;
  /** The definitions that `$ref` refers to. They can be recursive. */
  $defs?: Record<string, JsonSchema>;
  type?: JsonType | JsonType[];
  title?: string;
  description?: string;
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  examples?: unknown[];
  deprecated?: boolean;
  readOnly?: boolean;
  writeOnly?: boolean;
  format?: string;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  multipleOf?: number;
  items?: JsonSchema;
  prefixItems?: JsonSchema[];
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  properties?: Record<string, JsonSchema>;
  patternProperties?: Record<string, JsonSchema>;
  required?: string[];
  additionalProperties?: JsonSchema;
  minProperties?: number;
  maxProperties?: number;
  oneOf?: JsonSchema[];
  anyOf?: JsonSchema[];
  allOf?: JsonSchema[];
  not?: JsonSchema;
  [keyword: string]: unknown;
}

export interface ActionParameter {
  name: string;
  /** Where the parameter is sent. */
  in: "path" | "query" | "header" | "cookie";
  required: boolean;
  /** The schema of the value. A `$ref` points into the `ActionDetail`: `#/input/$defs/…`. */
  schema: JsonSchema;
  /** How an array or object is serialized: OpenAPI's `style`. */
  style: string;
  /** Whether each value of an array or object is serialized separately: OpenAPI's `explode`. */
  explode: boolean;
  /** True if reserved characters are not percent-encoded: OpenAPI's `allowReserved`. */
  allowReserved?: true;
  /** The media type of a parameter that is serialized by media type instead of `style`; otherwise null. */
  contentType: string | null;
}

/** The body of a request to the platform. */
export interface RequestBody {
  required: boolean;
  /** The media types that the platform accepts. `schema` describes the first one. */
  contentTypes: string[];
  /** The schema of the body. A `$ref` points into the `ActionDetail`: `#/input/$defs/…`. */
  schema: JsonSchema;
  /** How the members of a form are serialized, if the platform's document specifies it. */
  encoding?: Record<string, MemberEncoding>;
}

/** How a member of a form is serialized. */
export interface MemberEncoding {
  /** OpenAPI's `style`. */
  style: string;
  /** OpenAPI's `explode`. */
  explode: boolean;
  /** OpenAPI's `allowReserved`. */
  allowReserved?: boolean;
  /** The allowed media types of a multipart part, separated by commas. */
  contentType?: string;
  /** The headers that a multipart part can have. */
  headers?: string[];
}

/** An auth method that authorizes an action, and the scopes that the action requires. */
export interface ActionAuth {
  /** The id of one of the connector's auth methods. */
  method: string;
  /** The required scopes; empty if none are known. */
  scopes: string[];
}

/** A documented response of the platform. */
export interface ActionResponse {
  /** The HTTP status or a range of statuses, such as `200`, `4XX` or `default`. */
  status: string;
  /** Can be empty. */
  description: string;
  /** The media type of the body; null without a body. */
  contentType: string | null;
  /** The schema of the body, with its own `$defs`; null if unknown. */
  schema: JsonSchema | null;
}

/** The GraphQL request that runs an action. */
export interface GraphqlRequest {
  /** The GraphQL document, with `{selection}` as a placeholder for the selected fields. */
  document: string;
  /** The fields that are selected if the input has no `select`; empty if the result is a scalar. */
  selection: string;
  /** The default of the argument `first`, used if the input has neither `first` nor `last`. */
  first?: number;
}

/** An action with its parameters and authorization. */
export interface ActionDetail extends Action {
  /** The path relative to the server, with parameters in braces. */
  path: string;
  /** The base URL; null if unknown. */
  server: string | null;
  /** Can be empty. */
  description: string;
  /** Whether the platform has deprecated the action. */
  deprecated: boolean;
  /** The URL of the platform's documentation of the action; null if unknown. */
  documentationUrl: string | null;
  /** Only for actions of GraphQL APIs. */
  graphql?: GraphqlRequest;
  /** The path, query, header and cookie parameters. */
  parameters: ActionParameter[];
  /** Null if the action has no body. */
  requestBody: RequestBody | null;
  /** The media types of successful responses, the preferred one first; empty if unknown. */
  responseTypes: string[];
  /**
   * The auth methods that authorize the action; one of them is sufficient. Empty if the action needs no authorization,
   * or if none of the connector's methods can authorize it.
   */
  auth: ActionAuth[];
  /**
   * The input as one JSON Schema, for validators and tools: an object with the members `path`, `query`, `header`,
   * `cookie` and `body`, as far as the action has them. With `for: "model"`, one flat object.
   */
  input: JsonSchemaObject;
  /** Only with `include: "responses"`. */
  responses?: ActionResponse[];
}
