// The details of an action: parameters, body, authorization and responses.
import type { Action } from "../resources/catalog.js";

/** A JSON Schema (2020-12), as far as the service stores it. `true` and `{}` allow anything. */
export type JsonSchema = boolean | JsonSchemaObject;

/** The type of a JSON value. */
export type JsonType = "string" | "number" | "integer" | "boolean" | "array" | "object" | "null";

/** A JSON Schema other than true or false. All members are optional, and there can be others. */
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

/** A parameter of an action. */
export interface ActionParameter {
  /** The platform's name for the parameter. */
  name: string;
  /** Where it is sent. */
  in: "path" | "query" | "header" | "cookie";
  /** Whether the platform requires it. */
  required: boolean;
  /** The schema of its values. A `$ref` points into the response: `#/input/$defs/…`. */
  schema: JsonSchema;
  /** How a list or an object is serialized: `style` of OpenAPI. */
  style: string;
  /** Whether each value of a list or an object is serialized separately: `explode` of OpenAPI. */
  explode: boolean;
  /** True if reserved characters are sent unescaped: `allowReserved` of OpenAPI. */
  allowReserved?: true;
  /** The media type of the value, for a parameter that has one instead of a style. */
  contentType: string | null;
}

/** The body of a request to the platform. */
export interface RequestBody {
  /** Whether the platform requires it. */
  required: boolean;
  /** The media types that the platform accepts. The schema describes the first. */
  contentTypes: string[];
  /** The schema of the content. A `$ref` points into the response: `#/input/$defs/…`. */
  schema: JsonSchema;
  /** For a form: how its members are serialized, where the platform's document specifies it. */
  encoding?: Record<string, MemberEncoding>;
}

/** How a member of a form is serialized. */
export interface MemberEncoding {
  /** How a list or an object is serialized, as in OpenAPI. */
  style: string;
  /** Whether its values are serialized separately, as in OpenAPI. */
  explode: boolean;
  /** Whether reserved characters are sent unescaped. */
  allowReserved?: boolean;
  /** The allowed media types of a part, comma-separated. */
  contentType?: string;
  /** The allowed headers of a part. */
  headers?: string[];
}

/** A way to authorize an action. */
export interface ActionAuth {
  /** The id of one of the connector's auth methods. */
  method: string;
  /** The required scopes; empty if none are known. */
  scopes: string[];
}

/** A response of the platform, by its status. */
export interface ActionResponse {
  /** The status: `200`, `4XX` or `default`, for example. */
  status: string;
  /** The platform's description of the response. Can be empty. */
  description: string;
  /** The media type; null without a body. */
  contentType: string | null;
  /** The content, with its own `$defs`; null if unknown. */
  schema: JsonSchema | null;
}

/** The request that the service sends to a GraphQL API. */
export interface GraphqlRequest {
  /** The document, in which `{selection}` stands for the selected fields. */
  document: string;
  /** The fields that are selected without `select`; empty if the field returns a scalar. */
  selection: string;
  /** The value of the argument `first` if the input has neither `first` nor `last`. */
  first?: number;
}

/** An action, with its parameters and the ways to authorize it. */
export interface ActionDetail extends Action {
  /** The path below the server. A part in braces is a parameter. */
  path: string;
  /** The base address; null if unknown. */
  server: string | null;
  /** A description of the action. Can be empty. */
  description: string;
  /** Whether the platform has deprecated it. */
  deprecated: boolean;
  /** The platform's documentation of the action; null if unknown. */
  documentationUrl: string | null;
  /** The request of a field of a GraphQL API; absent for other actions. */
  graphql?: GraphqlRequest;
  /** The parameters of path, query, header and cookie. */
  parameters: ActionParameter[];
  /** The body; null if there is none. */
  requestBody: RequestBody | null;
  /** The media types of successful responses, the preferred one first; empty if unknown. */
  responseTypes: string[];
  /**
   * The ways to authorize it; any one is sufficient. Empty if it needs none, or if none of the connector's methods is sufficient.
   */
  auth: ActionAuth[];
  /**
   * The whole input as one JSON Schema, for validators and tools: an object with those of the members `path`, `query`,
   * `header`, `cookie` and `body` that the action has. With `for: "model"`, one flat object instead.
   */
  input: JsonSchemaObject;
  /** The platform's responses. Only with `include: "responses"`. */
  responses?: ActionResponse[];
}
