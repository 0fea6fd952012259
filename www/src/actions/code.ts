// How to run an action: through the vault, and at the platform itself. What is in angle brackets is to be filled in.
import type { ActionDetail, ActionInput, AuthMethod, JsonSchema } from "connector-vault/slim";
import { type Call, inJson, quoted } from "../parts/snippet";
import { type Definitions, definitionsOf, flatten, typesOf, valuesOf } from "./schema";

/** Stands for the content of a file. */
const FILE = "@<file>";
/** Values of a body that are written out: objects may require objects like themselves. */
const MAX_VALUES = 200;
/** Objects in objects that are written out. */
const MAX_DEPTH = 8;

/** The connection and the input of a run, as far as somebody has chosen them. */
export interface Chosen {
  connection?: string;
  input?: ActionInput;
}

/** The run through the vault. What is required and has not been chosen is to be filled in. */
export function runOf({ key, input: schema }: ActionDetail, { connection = "<connection>", input }: Chosen): Call {
  const example = skeleton(schema, definitionsOf(schema), "input", 0) as Record<string, unknown>;
  for (const [place, given] of Object.entries(input ?? {})) {
    const isWhole = typeof given !== "object" || given === null || Array.isArray(given);
    example[place] = isWhole ? given : { ...(example[place] as object | undefined), ...given };
  }
  return {
    method: "POST",
    path: `/v1/vault/connections/${connection}/actions/${encodeURIComponent(key)}`,
    body: example,
    javascript: `const { status, body } = await vault.actions.run(${JSON.stringify(connection)}, ${JSON.stringify(key)}, ${inJson(example)});`,
  };
}

/** The platform's own request in a shell, authorized with this method; `common` are the headers of all of the connector's methods. */
export function curlOf(
  action: ActionDetail,
  method: AuthMethod | undefined,
  common: Record<string, string> = {},
): string {
  const { method: verb, server, path, parameters } = action;
  const definitions = definitionsOf(action.input);
  const needed = parameters.filter(({ required }) => required);
  const valueOf = ({ name, schema }: (typeof parameters)[number]) => known(schema, definitions) ?? `<${name}>`;
  const query = needed.filter((one) => one.in === "query").map((one) => pair(one.name, valueOf(one)));
  const templates = { ...lowered(common), ...lowered(method?.headers ?? {}) };
  const own = [...Object.values(templates), ...Object.values(method?.query ?? {})].join();
  // What a template names goes there and nowhere else.
  const secret = method && SECRETS[method.type];
  const isPlaced = secret !== undefined && own.includes(`{${secret}}`);
  const isKey = method?.type === "api_key" && !isPlaced;
  if (isKey && method.in === "query") query.push(pair(method.name, "<key>"));
  query.push(...Object.entries(method?.query ?? {}).map(([name, value]) => pair(name, filled(value))));
  // Amazon's documents tell operations apart by a fragment, which is never sent: a parameter says the same.
  const [place = ""] = path.split("#");
  const address = `${(server ?? "https://<server>").replace(/\/$/, "")}${place}`
    .replaceAll("{", "<")
    .replaceAll("}", ">");
  // Some paths have a query already.
  const url = query.length > 0 ? `${address}${address.includes("?") ? "&" : "?"}${query.join("&")}` : address;
  const cookies = needed.filter((one) => one.in === "cookie").map((one) => `${one.name}=${valueOf(one)}`);
  if (isKey && method.in === "cookie") cookies.push(`${method.name}=<key>`);
  const headers = new Map(Object.entries(templates).map(([name, value]) => [name, filled(value)]));
  for (const one of needed)
    if (one.in === "header" && !headers.has(one.name.toLowerCase())) headers.set(one.name, String(valueOf(one)));
  return [
    `curl ${verb === "GET" ? "" : `-X ${verb} `}${quoted(url)}`,
    ...(isPlaced ? [] : authorization(method)),
    ...[...headers].map(([name, value]) => header(name, value)),
    ...(cookies.length > 0 ? [`-b ${quoted(cookies.join("; "))}`] : []),
    ...body(action, definitions),
  ].join(" \\\n  ");
}

const header = (name: string, value: string) => `-H ${quoted(`${name}: ${value}`)}`;

/** The variable of templates that stands for the secret of a type. */
const SECRETS: Partial<Record<AuthMethod["type"], string>> = {
  oauth2: "accessToken",
  bearer: "token",
  api_key: "apiKey",
};

const lowered = (headers: Record<string, string>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

/** A template with what is to be filled in. */
const filled = (template: string) => template.replace(/\{([\w. -]+)\}/g, "<$1>");

/** What stands before a secret: after a word, with a space. */
const before = (prefix: string) => (/[a-z0-9]$/i.test(prefix) ? `${prefix} ` : prefix);

/** A parameter of the query; what is to be filled in stays readable. */
function pair(name: string, value: unknown): string {
  const text = String(value);
  return `${encodeURIComponent(name)}=${text.startsWith("<") ? text : encodeURIComponent(text)}`;
}

function authorization(method: AuthMethod | undefined): string[] {
  switch (method?.type) {
    case "oauth2":
      return [header("authorization", "Bearer <access token>")];
    case "bearer":
      return [header("authorization", `${before(method.prefix)}<token>`)];
    case "basic":
      return [`-u ${quoted(`${filled(method.username ?? "{user name}")}:${filled(method.password ?? "{password}")}`)}`];
    case "aws_sigv4":
      return [
        `--aws-sigv4 ${quoted(`aws:amz:${method.regions[0] ?? "<region>"}:${method.service}`)}`,
        "-u '<access key ID>:<secret access key>'",
      ];
    case "api_key":
      return method.in === "header" ? [header(method.name, `${before(method.prefix)}<key>`)] : [];
    case undefined:
      return [];
  }
}

function body({ requestBody }: ActionDetail, definitions: Definitions): string[] {
  if (!requestBody) return [];
  const [media = "application/json"] = requestBody.contentTypes;
  const value = skeleton(requestBody.schema, definitions, "body", 0);
  const fields = typeof value === "object" && value !== null ? Object.entries(value) : [];
  if (/[/+]json$/.test(media) || media === "*/*") {
    const type = media === "*/*" ? "application/json" : media;
    return [header("content-type", type), `-d ${quoted(JSON.stringify(value, undefined, 2))}`];
  }
  if (media === "application/x-www-form-urlencoded")
    return fields.map(([name, field]) => `--data-urlencode ${quoted(`${name}=${textOf(field)}`)}`);
  // With -F, a value that begins with @ or < would be read from a file: none but the reader's own is.
  if (media.startsWith("multipart/"))
    return fields.map(([name, field]) => {
      const option = field === FILE ? "-F" : "--form-string";
      return `${option} ${quoted(`${name}=${textOf(field)}`)}`;
    });
  return [header("content-type", media), "--data-binary '@<file>'"];
}

const textOf = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));

/** The value that a schema suggests; undefined if it suggests none. */
function known(schema: JsonSchema, definitions: Definitions): unknown {
  const flat = flatten(schema, definitions);
  const { const: only, default: usual, examples } = flat.keywords;
  return only ?? usual ?? examples?.[0] ?? valuesOf(flat)?.[0];
}

/** A value with only what is required. */
function skeleton(
  schema: JsonSchema,
  definitions: Definitions,
  name: string,
  depth: number,
  budget = { values: MAX_VALUES },
): unknown {
  budget.values -= 1;
  const suggested = known(schema, definitions);
  if (suggested !== undefined) return suggested;
  const flat = flatten(schema, definitions);
  const [choice] = flat.choices;
  const [type] = typesOf(flat);
  const [first] = choice?.schemas ?? [];
  if (type === undefined && first !== undefined && depth < MAX_DEPTH) {
    return skeleton(first, definitions, name, depth + 1, budget);
  }
  switch (type) {
    case "object": {
      const members = [...flat.required].filter(() => depth < MAX_DEPTH && budget.values > 0);
      const member = (one: string) => skeleton(flat.properties.get(one) ?? true, definitions, one, depth + 1, budget);
      return Object.fromEntries(members.map((one) => [one, member(one)]));
    }
    case "array": {
      const { items = true, minItems = 0 } = flat.keywords;
      return minItems > 0 && depth < MAX_DEPTH ? [skeleton(items, definitions, name, depth + 1, budget)] : [];
    }
    case "integer":
    case "number":
      return flat.keywords.minimum ?? 0;
    case "boolean":
      return false;
    case "null":
      return null;
    default:
      return flat.keywords.format === "binary" ? FILE : `<${name}>`;
  }
}
