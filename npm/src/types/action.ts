// What an action takes and answers.
import type { Action } from "../resources/catalog.js";

/** A JSON Schema (2020-12), as far as the service keeps it. `true` and `{}` allow anything. */
export type JsonSchema = boolean | JsonSchemaObject;

/** The type of a JSON value. */
export type JsonType = "string" | "number" | "integer" | "boolean" | "array" | "object" | "null";

/** A JSON Schema that is not just true or false. Any member can be absent, and there can be others. */
export interface JsonSchemaObject {
  /** A JSON Pointer to a definition: a `#`, then the path. */
  $ref?: string;
  /** The definitions that `$ref` leads to. They can refer to themselves. */
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

/** What is sent besides the body. */
export interface ActionParameter {
  /** As the platform names it. */
  name: string;
  /** Where it is sent. */
  in: "path" | "query" | "header" | "cookie";
  /** Whether the platform needs it. */
  required: boolean;
  /** Its values. A `$ref` leads into the answer: `#/input/$defs/…`. */
  schema: JsonSchema;
  /** How a list or an object is written: `style` of OpenAPI. */
  style: string;
  /** Whether each value of a list or an object stands for itself: `explode` of OpenAPI. */
  explode: boolean;
  /** True if reserved characters of its value are sent as they are: `allowReserved` of OpenAPI. */
  allowReserved?: true;
  /** The media type of the value, for a parameter that has one instead of a style. */
  contentType: string | null;
}

/** The body of a request to the platform. */
export interface RequestBody {
  /** Whether the platform needs it. */
  required: boolean;
  /** The media types that the platform takes. The schema describes the first. */
  contentTypes: string[];
  /** Its content. A `$ref` leads into the answer: `#/input/$defs/…`. */
  schema: JsonSchema;
  /** Of a form: how members are written of which the document says so, like parameters of a query. */
  encoding?: Record<string, MemberEncoding>;
}

/** How a member of a form is written. */
export interface MemberEncoding {
  /** How a list or an object is written, as in OpenAPI. */
  style: string;
  /** Whether its values stand for themselves, as in OpenAPI. */
  explode: boolean;
  /** Whether reserved characters stay as they are. */
  allowReserved?: boolean;
  /** The media types that a part may have, comma-separated. */
  contentType?: string;
  /** The headers that a part may have. */
  headers?: string[];
}

/** A way to authorize an action. */
export interface ActionAuth {
  /** The id of one of the connector's auth methods. */
  method: string;
  /** The scopes that are needed; empty if none are known. */
  scopes: string[];
}

/** What the platform answers with one status. */
export interface ActionResponse {
  /** The status: `200`, `4XX` or `default`, for example. */
  status: string;
  /** When it is answered. Can be empty. */
  description: string;
  /** The media type; null without a body. */
  contentType: string | null;
  /** The content, with its own `$defs`; null if unknown. */
  schema: JsonSchema | null;
}

/** An action with what it takes and how it is authorized. */
export interface ActionDetail extends Action {
  /** The path below the server. A part in braces is a parameter. */
  path: string;
  /** The base address; null if unknown. */
  server: string | null;
  /** What the action does. Can be empty. */
  description: string;
  /** Whether the platform advises against it. */
  deprecated: boolean;
  /** The platform's documentation of it; null if unknown. */
  documentationUrl: string | null;
  /** What is sent besides the body. */
  parameters: ActionParameter[];
  /** The body; null if there is none. */
  requestBody: RequestBody | null;
  /** The media types in which it answers when it succeeds, the preferred one first; empty if unknown. */
  responseTypes: string[];
  /**
   * The ways to authorize it; any one is enough. Empty if it needs none, or none of the connector's methods is enough.
   */
  auth: ActionAuth[];
  /**
   * All that the action takes as one JSON Schema, for validators and tools: an object with the members `path`, `query`,
   * `header`, `cookie` and `body`, as far as the action has them. With `for: "model"`, one flat object instead.
   */
  input: JsonSchemaObject;
  /** What the platform answers. Only with `include: "responses"`. */
  responses?: ActionResponse[];
}

/** What to retrieve of an action. */
export interface ActionQuery {
  /** `responses` adds what the platform answers. */
  include?: "responses" | undefined;
  /**
   * `model`: `input` is one flat object that the tool definitions of models allow. Run the action with `{ arguments }`
   * then.
   */
  for?: "model" | undefined;
}
