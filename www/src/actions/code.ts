// How to call an action of a platform with curl. What is in angle brackets is to be filled in.
import type { ActionDetail, AuthMethod, JsonSchema } from "connector-vault/slim";
import { quoted } from "../parts/snippet";
import { type Definitions, definitionsOf, flatten, typesOf, valuesOf } from "./schema";

/** Stands for the content of a file. */
const FILE = "@<file>";
/** Values of a body that are written out: objects may require objects like themselves. */
const MAX_VALUES = 200;
/** Objects in objects that are written out. */
const MAX_DEPTH = 8;

/** The request in a shell, authorized with this method. */
export function curlOf(action: ActionDetail, method: AuthMethod | undefined): string {
  const { method: verb, server, path, parameters } = action;
  const definitions = definitionsOf(action.input);
  const needed = parameters.filter(({ required }) => required);
  const valueOf = ({ name, schema }: (typeof parameters)[number]) => known(schema, definitions) ?? `<${name}>`;
  const query = needed.filter((one) => one.in === "query").map((one) => pair(one.name, valueOf(one)));
  if (method?.type === "api_key" && method.in === "query") query.push(pair(method.name, "<key>"));
  // Amazon's documents tell operations apart by a fragment, which is never sent: a parameter says the same.
  const [place = ""] = path.split("#");
  const address = `${(server ?? "https://<server>").replace(/\/$/, "")}${place}`
    .replaceAll("{", "<")
    .replaceAll("}", ">");
  // Some paths have a query already.
  const url = query.length > 0 ? `${address}${address.includes("?") ? "&" : "?"}${query.join("&")}` : address;
  const cookies = needed.filter((one) => one.in === "cookie").map((one) => `${one.name}=${valueOf(one)}`);
  if (method?.type === "api_key" && method.in === "cookie") cookies.push(`${method.name}=<key>`);
  return [
    `curl ${verb === "GET" ? "" : `-X ${verb} `}${quoted(url)}`,
    ...authorization(method),
    ...needed.filter((one) => one.in === "header").map((one) => header(one.name, String(valueOf(one)))),
    ...(cookies.length > 0 ? [`-b ${quoted(cookies.join("; "))}`] : []),
    ...body(action, definitions),
  ].join(" \\\n  ");
}

const header = (name: string, value: string) => `-H ${quoted(`${name}: ${value}`)}`;

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
      return [header("authorization", `${method.prefix} <token>`.trim())];
    case "basic":
      return ["-u '<user name>:<password>'"];
    case "aws_sigv4":
      return [
        `--aws-sigv4 ${quoted(`aws:amz:${method.regions[0] ?? "<region>"}:${method.service}`)}`,
        "-u '<access key ID>:<secret access key>'",
      ];
    case "api_key":
      return method.in === "header" ? [header(method.name, `${method.prefix} <key>`.trim())] : [];
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
