// Code samples that run an action, through the vault and directly at the platform. Placeholders are in angle brackets.
import type { ActionDetail, ActionInput, AuthMethod, JsonSchema } from "connector-vault/slim";
import { type ApiCall, toJson, shellQuote } from "../components/snippet";
import { type Definitions, getDefinitions, flatten, listTypes, allowedValues } from "./schema";

const FILE_PLACEHOLDER = "@<file>";
/** Limits the size of an example body, because schemas can be recursive. */
const MAX_VALUES = 200;
const MAX_DEPTH = 8;

/** The connection and input that the user has chosen so far in "Try it". */
export interface RunInput {
  connection?: string;
  input?: ActionInput;
}

/** Builds the request that runs the action through the vault. Missing required values become placeholders. */
export function buildRunCall(
  { key, input: schema }: ActionDetail,
  { connection = "<connection>", input }: RunInput,
): ApiCall {
  const example = buildExampleValue(schema, getDefinitions(schema), "input", 0) as Record<string, unknown>;
  for (const [location, value] of Object.entries(input ?? {})) {
    const isWholeBody = typeof value !== "object" || value === null || Array.isArray(value);
    example[location] = isWholeBody ? value : { ...(example[location] as object | undefined), ...value };
  }
  return {
    method: "POST",
    path: `/v1/vault/connections/${connection}/actions/${encodeURIComponent(key)}`,
    body: example,
    javascript: `const { status, body } = await vault.actions.run(${JSON.stringify(connection)}, ${JSON.stringify(key)}, ${toJson(example)});`,
  };
}

/**
 * Builds a curl command for the platform's own API that is authorized with `method`. All methods of the connector send
 * `commonHeaders`.
 */
export function buildPlatformCurl(
  action: ActionDetail,
  method: AuthMethod | undefined,
  commonHeaders: Record<string, string> = {},
): string {
  const { method: httpMethod, server, path, parameters } = action;
  const definitions = getDefinitions(action.input);
  const requiredParameters = parameters.filter(({ required }) => required);
  const getPlaceholder = ({ name, schema }: (typeof parameters)[number]) =>
    findSuggestedValue(schema, definitions) ?? `<${name}>`;
  const query = requiredParameters
    .filter((parameter) => parameter.in === "query")
    .map((parameter) => buildQueryParameter(parameter.name, getPlaceholder(parameter)));
  const templates = { ...lowerCaseNames(commonHeaders), ...lowerCaseNames(method?.headers ?? {}) };
  const templateText = [...Object.values(templates), ...Object.values(method?.query ?? {})].join();
  // A template can already contain the secret, so do not add it again.
  const secret = method && SECRET_VARIABLES[method.type];
  const isInTemplate = secret !== undefined && templateText.includes(`{${secret}}`);
  const isKey = method?.type === "api_key" && !isInTemplate;
  if (isKey && method.in === "query") query.push(buildQueryParameter(method.name, "<key>"));
  query.push(
    ...Object.entries(method?.query ?? {}).map(([name, value]) => buildQueryParameter(name, withPlaceholders(value))),
  );
  // Amazon's OpenAPI documents distinguish operations by a URL fragment, which is never sent. A parameter has the same
  // value.
  const [pathWithoutFragment = ""] = path.split("#");
  const address = `${(server ?? "https://<server>").replace(/\/$/, "")}${pathWithoutFragment}`
    .replaceAll("{", "<")
    .replaceAll("}", ">");
  // Some paths already contain a query.
  const url = query.length > 0 ? `${address}${address.includes("?") ? "&" : "?"}${query.join("&")}` : address;
  const cookies = requiredParameters
    .filter((parameter) => parameter.in === "cookie")
    .map((parameter) => `${parameter.name}=${getPlaceholder(parameter)}`);
  if (isKey && method.in === "cookie") cookies.push(`${method.name}=<key>`);
  const headers = new Map(Object.entries(templates).map(([name, value]) => [name, withPlaceholders(value)]));
  for (const parameter of requiredParameters)
    if (parameter.in === "header" && !headers.has(parameter.name.toLowerCase()))
      headers.set(parameter.name, String(getPlaceholder(parameter)));
  return [
    `curl ${httpMethod === "GET" ? "" : `-X ${httpMethod} `}${shellQuote(url)}`,
    ...(isInTemplate ? [] : authorizationOptions(method)),
    ...[...headers].map(([name, value]) => header(name, value)),
    ...(cookies.length > 0 ? [`-b ${shellQuote(cookies.join("; "))}`] : []),
    ...bodyOptions(action, definitions),
  ].join(" \\\n  ");
}

const header = (name: string, value: string) => `-H ${shellQuote(`${name}: ${value}`)}`;

/** The template variable of the secret, by method type. */
const SECRET_VARIABLES: Partial<Record<AuthMethod["type"], string>> = {
  oauth2: "accessToken",
  bearer: "token",
  api_key: "apiKey",
};

const lowerCaseNames = (headers: Record<string, string>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

/** Replaces template variables with placeholders. */
const withPlaceholders = (template: string) => template.replace(/\{([\w. -]+)\}/g, "<$1>");

/** Adds a space after a prefix that ends with a letter or digit. */
const addSpaceAfterWord = (prefix: string) => (/[a-z0-9]$/i.test(prefix) ? `${prefix} ` : prefix);

/** Builds a query parameter. Does not percent-encode placeholders, so that they stay readable. */
function buildQueryParameter(name: string, value: unknown): string {
  const text = String(value);
  return `${encodeURIComponent(name)}=${text.startsWith("<") ? text : encodeURIComponent(text)}`;
}

function authorizationOptions(method: AuthMethod | undefined): string[] {
  switch (method?.type) {
    case "oauth2":
      return [header("authorization", "Bearer <access token>")];
    case "bearer":
      return [header("authorization", `${addSpaceAfterWord(method.prefix)}<token>`)];
    case "basic":
      return [
        `-u ${shellQuote(`${withPlaceholders(method.username ?? "{user name}")}:${withPlaceholders(method.password ?? "{password}")}`)}`,
      ];
    case "aws_sigv4":
      return [
        `--aws-sigv4 ${shellQuote(`aws:amz:${method.regions[0] ?? "<region>"}:${method.service}`)}`,
        "-u '<access key ID>:<secret access key>'",
      ];
    case "api_key":
      return method.in === "header" ? [header(method.name, `${addSpaceAfterWord(method.prefix)}<key>`)] : [];
    case undefined:
      return [];
  }
}

function bodyOptions({ requestBody }: ActionDetail, definitions: Definitions): string[] {
  if (!requestBody) return [];
  const [media = "application/json"] = requestBody.contentTypes;
  const value = buildExampleValue(requestBody.schema, definitions, "body", 0);
  const fields = typeof value === "object" && value !== null ? Object.entries(value) : [];
  if (/[/+]json$/.test(media) || media === "*/*") {
    const type = media === "*/*" ? "application/json" : media;
    return [header("content-type", type), `-d ${shellQuote(JSON.stringify(value, undefined, 2))}`];
  }
  if (media === "application/x-www-form-urlencoded")
    return fields.map(([name, field]) => `--data-urlencode ${shellQuote(`${name}=${toText(field)}`)}`);
  // With -F, curl reads a value that begins with @ or < from a file, so only files use this option.
  if (media.startsWith("multipart/"))
    return fields.map(([name, field]) => {
      const option = field === FILE_PLACEHOLDER ? "-F" : "--form-string";
      return `${option} ${shellQuote(`${name}=${toText(field)}`)}`;
    });
  return [header("content-type", media), "--data-binary '@<file>'"];
}

const toText = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));

/** Returns a default, example or allowed value of the schema, if it has one. */
function findSuggestedValue(schema: JsonSchema, definitions: Definitions): unknown {
  const flat = flatten(schema, definitions);
  const { const: constant, default: fallback, examples } = flat.keywords;
  return constant ?? fallback ?? examples?.[0] ?? allowedValues(flat)?.[0];
}

/** Builds an example value with the required members only. */
function buildExampleValue(
  schema: JsonSchema,
  definitions: Definitions,
  name: string,
  depth: number,
  budget = { values: MAX_VALUES },
): unknown {
  budget.values -= 1;
  const suggested = findSuggestedValue(schema, definitions);
  if (suggested !== undefined) return suggested;
  const flat = flatten(schema, definitions);
  const [choice] = flat.choices;
  const [type] = listTypes(flat);
  const [firstSchema] = choice?.schemas ?? [];
  if (type === undefined && firstSchema !== undefined && depth < MAX_DEPTH) {
    return buildExampleValue(firstSchema, definitions, name, depth + 1, budget);
  }
  switch (type) {
    case "object": {
      const members = [...flat.required].filter(() => depth < MAX_DEPTH && budget.values > 0);
      const exampleMember = (memberName: string) =>
        buildExampleValue(flat.properties.get(memberName) ?? true, definitions, memberName, depth + 1, budget);
      return Object.fromEntries(members.map((memberName) => [memberName, exampleMember(memberName)]));
    }
    case "array": {
      const { items = true, minItems = 0 } = flat.keywords;
      return minItems > 0 && depth < MAX_DEPTH ? [buildExampleValue(items, definitions, name, depth + 1, budget)] : [];
    }
    case "integer":
    case "number":
      return flat.keywords.minimum ?? 0;
    case "boolean":
      return false;
    case "null":
      return null;
    default:
      return flat.keywords.format === "binary" ? FILE_PLACEHOLDER : `<${name}>`;
  }
}
