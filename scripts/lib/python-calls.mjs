// Completes the asynchronous client of the Python package: adds the endpoints, query parameters and body fields of the OpenAPI
// document that its methods lack. Existing code stays unchanged, so names, types and docstrings can be refined by hand.
import { Problem } from "./problem.mjs";

const METHODS = ["get", "put", "post", "patch", "delete"];
/** Matches paths that need no method: public files, and the proxy, which `call_platform` calls. */
const NO_METHOD = /^\/health$|^\/v1\/openapi\.json$|\/proxy\//;
const MAX_COLUMNS = 120;

const snakeCase = (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).replaceAll("-", "_");
const KEYWORDS =
  /^(and|as|assert|async|await|break|class|continue|def|del|elif|else|except|finally|for|from|global|if|import|in|is|lambda|nonlocal|not|or|pass|raise|return|try|while|with|yield)$/;
/** The Python name of a parameter. Keywords of Python such as `from` get a `_`. */
const argument = (name) => snakeCase(name).replace(KEYWORDS, "$1_");

/** The index after the bracket that closes the bracket before `start`. */
function closingIndex(text, start) {
  let depth = 1;
  let end = start;
  for (; depth > 0; end += 1) {
    if (end >= text.length) throw new Problem("A bracket in python/src/connector_vault/_async.py is not closed.");
    depth += "([{".includes(text[end]) ? 1 : ")]}".includes(text[end]) ? -1 : 0;
  }
  return end;
}

/** Splits a list of arguments at its top-level commas. */
function items(text) {
  const parts = [""];
  for (let at = 0; at < text.length; at += 1) {
    const end = "([{".includes(text[at]) ? closingIndex(text, at + 1) : at + 1;
    if (text[at] === ",") parts.push("");
    else parts.push(parts.pop() + text.slice(at, end));
    at = end - 1;
  }
  return parts.map((part) => part.trim()).filter((part) => part !== "");
}

/** `prefix(items)suffix`: on one line if it fits, otherwise with one item per line. */
function layout(indent, prefix, parts, suffix) {
  const line = `${prefix}(${parts.join(", ")})${suffix}`;
  const column = indent.length + line.slice(line.lastIndexOf("\n") + 1).length;
  if (column <= MAX_COLUMNS) return line;
  return `${prefix}(\n${parts.map((part) => `${indent}    ${part},\n`).join("")}${indent})${suffix}`;
}

/** The request that the code of a method sends, such as `GET /v1/webhooks/{}`. */
function requestOf(code) {
  const [, method = "GET"] = code.match(/(?:\bCall(?:\[[^(]*\])?|_change)\(\s*"([A-Z]+)"/) ?? [];
  const pathCall = code.match(/\b(api_path|_connection)\(/);
  if (!pathCall) return null;
  const start = pathCall.index + pathCall[0].length;
  const args = items(code.slice(start, closingIndex(code, start) - 1));
  const segments = args.map((part) => part.match(/^"(.*)"$/)?.[1] ?? "{}");
  const base = pathCall[1] === "_connection" ? ["vault", "connections"] : [];
  return `${method} /v1/${[...base, ...segments].join("/")}`;
}

/** The classes of a client, each with its methods and their code. */
function classesOf(source) {
  return source.split(/^(?=class )/m).map((code) => {
    const methods = code.split(/^(?= {4}(?:async )?def )/m).slice(1);
    const parsedMethods = methods.map((method) => ({
      name: method.match(/def (\w+)/)[1],
      request: requestOf(method),
      code: method,
    }));
    return { name: code.match(/^class (\w+)/)?.[1], methods: parsedMethods };
  });
}

/** The operations of the document, with their parameters and body fields. */
function operationsOf({ paths, components }) {
  const resolve = (schema) => (schema.$ref ? components.schemas[schema.$ref.split("/").at(-1)] : schema);
  const members = (schemaOrReference) => {
    const schema = resolve(schemaOrReference);
    const parts = (schema.oneOf ?? []).flatMap(members);
    const direct = Object.entries(schema.properties ?? {}).map(([name, type]) => {
      return { name, schema: type, isRequired: schema.required?.includes(name) ?? false };
    });
    return [...direct, ...parts.map((part) => ({ ...part, isRequired: false }))];
  };
  return Object.entries(paths).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method] && !NO_METHOD.test(path)).map((method) => {
      const { parameters = [], requestBody, responses, ...operation } = item[method];
      const json = (content) => content?.["application/json"]?.schema;
      const [success] = Object.entries(responses).find(([status]) => status.startsWith("2"));
      const result = json(responses[success].content);
      return {
        ...operation,
        path,
        request: `${method.toUpperCase()} ${path.replace(/\{\w+\}/g, "{}")}`,
        query: parameters
          .filter((parameter) => parameter.in === "query")
          .map(({ name, schema, required = false }) => ({ name, schema, isRequired: required })),
        body: requestBody ? members(json(requestBody.content)) : [],
        result: result && { name: result.$ref?.split("/").at(-1), ...resolve(result) },
      };
    }),
  );
}

/** The annotation of an argument. */
function typeOf({ $ref, type, enum: values, format, items: item }) {
  const [name] = [type].flat();
  if (format === "date-time") return "datetime";
  if (values) return `Literal[${values.map((value) => JSON.stringify(value)).join(", ")}]`;
  if (name === "array") return `Iterable[${typeOf(item)}]`;
  if (name === "object") return "Mapping[str, Json]";
  return { boolean: "bool", integer: "int", number: "float" }[name] ?? ($ref ? "Json" : "str");
}

const isNullable = ({ type }) => [type].flat().includes("null");

/** The declaration of an argument. */
function declaration({ name, schema, isRequired }, isBody) {
  const type = typeOf(schema);
  const nullable = isBody && isNullable(schema);
  if (isRequired) return `${argument(name)}: ${type}${nullable ? " | None" : ""}`;
  return `${argument(name)}: ${type} | None${nullable ? " | Omitted = OMITTED" : " = None"}`;
}

/** The code that passes an argument to `query_params` or `json_body`. */
function member({ name, schema, isRequired }, isBody) {
  const value = argument(name);
  if (!isBody) return `${value}=${value}`;
  const isList = [schema.type].flat()[0] === "array";
  if (isRequired || isNullable(schema)) return `${value}=${isList ? `[*${value}]` : value}`;
  return `${value}=${isList ? `OMITTED if ${value} is None else [*${value}]` : `or_omitted(${value})`}`;
}

/** Adds arguments to a method, and passes them to `call`: `query_params` or `json_body`. */
function withArguments(code, added, call) {
  const isBody = call === "json_body";
  const callStart = code.indexOf(`${call}(`);
  const dict = code.indexOf("dict(", callStart);
  if (callStart < 0 || dict < 0)
    throw new Problem(`Pass ${added.map(({ name }) => `\`${name}\``).join(", ")} in _async.py by hand:\n${code}`);
  const [start, end] = [dict + "dict(".length, closingIndex(code, callStart + call.length + 1)];
  const members = [
    ...items(code.slice(start, closingIndex(code, start) - 1)),
    ...added.map((one) => member(one, isBody)),
  ];
  const indent = code.slice(code.lastIndexOf("\n", callStart) + 1).match(/^ */)[0];
  const inner = layout(`${indent}    `, "dict", members, "");
  const lineStart = code.slice(code.lastIndexOf("\n", callStart) + 1, callStart);
  const isShort = !inner.includes("\n") && lineStart.length + call.length + inner.length + 2 <= MAX_COLUMNS;
  const argumentsText = isShort ? `${call}(${inner})` : `${call}(\n${indent}    ${inner}\n${indent})`;
  const body = code.slice(0, callStart) + argumentsText + code.slice(end);
  const open = body.indexOf("(") + 1;
  const close = closingIndex(body, open) - 1;
  const parameters = items(body.slice(open, close));
  if (!parameters.includes("*")) parameters.push("*");
  const limit = parameters.findIndex((parameter) => parameter.startsWith("limit:"));
  parameters.splice(limit < 0 ? parameters.length : limit, 0, ...added.map((one) => declaration(one, isBody)));
  const lineEnd = body.indexOf("\n", close);
  const signature = layout("    ", body.slice(0, open - 1), parameters, body.slice(close + 1, lineEnd));
  return signature + body.slice(lineEnd);
}

/** The first sentence of an operation's description. */
const sentence = ({ summary, description = "" }) => description.split(/(?<=\.)\s/)[0] || `${summary}.`;

/** A method for an operation, in a class with these methods. */
function newMethod(operation, methods) {
  const { path, operationId, result } = operation;
  const existingArgument = methods.map(({ code }) => code.match(/resource_id\((\w+)\)/)?.[1]).find(Boolean);
  const segments = path.split("/").slice(2);
  const parts = segments.map((segment, at) => {
    const [, name] = segment.match(/^\{(\w+)\}$/) ?? [];
    if (!name) return { value: JSON.stringify(segment) };
    if (!/^id$|Id$/.test(name)) return { value: snakeCase(name), parameter: `${snakeCase(name)}: str` };
    const resource = existingArgument ?? snakeCase(segments[at - 1]).replace(/^.*_|s$/g, "");
    return { value: `resource_id(${resource})`, parameter: `${resource}: str | HasId` };
  });
  const verb = snakeCase(operationId).split("_")[0];
  const name = methods.some((method) => method.name === verb) ? snakeCase(operationId) : verb;
  const method = operation.request.split(" ")[0];
  const isList = result?.properties?.rows !== undefined && operation.query.some((one) => one.name === "limit");
  const row = result?.properties?.rows?.items.$ref?.split("/").at(-1);
  const hasTotal = result?.properties?.total !== undefined;
  const kind = isList ? `AsyncRows[${row}, ${hasTotal ? "CountedPage" : "Page"}[${row}]]` : (result?.name ?? "None");
  const address = `api_path(${parts.map(({ value }) => value).join(", ")})`;
  const lines = [];
  const more = [operation.query.length > 0 && !isList && "query=query", operation.body.length > 0 && "body=body"];
  const isUnsafe = method === "POST";
  if (operation.query.length > 0) lines.push("query = query_params(dict())");
  if (operation.body.length > 0) lines.push("body = json_body(dict())");
  if (isList) {
    const cursor = operation.query.find((one) => ["after", "before"].includes(one.name))?.name;
    const call = hasTotal ? "_counted_list" : "_cursor_list";
    const args = ["self._sender", result.name, address, "query", ...(hasTotal ? [] : [JSON.stringify(cursor)])];
    lines.push(`return ${layout("        ", call, args, "")}`);
  } else {
    const args = [JSON.stringify(method), address, result?.name ?? "None", ...more, isUnsafe && "repeatable=False"];
    const call = result ? "Call" : "Call[None]";
    lines.push(layout("        ", `call = ${call}`, args.filter(Boolean), ""));
    lines.push(`${result ? "return " : ""}await self._sender.result(call)`);
  }
  const parameters = ["self", ...parts.map(({ parameter }) => parameter).filter(Boolean)];
  const doc = sentence(operation) + (isUnsafe ? " Never retried." : "");
  const head = layout("    ", `${isList ? "" : "async "}def ${name}`, parameters, ` -> ${kind}:`);
  const code = `    ${head}\n        """${doc}"""\n${lines.map((line) => `        ${line}\n`).join("")}\n`;
  return { name, code, models: [isList ? row : undefined, result?.name].filter(Boolean) };
}

const literals = (request) => request.split("/").slice(2);
/** The number of leading segments that two paths share. */
function sharedSegments(one, other) {
  const [left, right] = [literals(one), literals(other)];
  const firstDifference = left.findIndex((segment, at) => segment !== right[at]);
  return firstDifference < 0 ? left.length : firstDifference;
}

/** Adds a method for an operation to the source: to the class whose methods have the nearest paths, or to a new class. */
function withOperation(source, operation) {
  const maxSharedSegments = ({ methods }) =>
    Math.max(0, ...methods.map(({ request }) => (request ? sharedSegments(request, operation.request) : 0)));
  const [nearest] = classesOf(source).toSorted((one, other) => maxSharedSegments(other) - maxSharedSegments(one));
  const isNew = maxSharedSegments(nearest) < (operation.path.startsWith("/v1/vault/") ? 2 : 1);
  const { code, models } = newMethod(operation, isNew ? [] : nearest.methods);
  let text = source;
  if (isNew) {
    const attribute = snakeCase(literals(operation.request).find((segment) => segment !== "vault"));
    const name = `Async${attribute.replace(/(?:^|_)(\w)/g, (_, letter) => letter.toUpperCase())}`;
    const head = `class ${name}:\n    """${sentence(operation)}"""\n\n    def __init__(self, sender: AsyncSender) -> None:\n`;
    const classCode = `${head}        self._sender = sender\n\n${code}\n`;
    text = text.replace(/^(?=class AsyncConnectorVault)/m, () => classCode);
    text = text.replace(/(?:^ {8}self\.\w+ = Async\w+\(self\._sender\)\n)+/m, (lines) => {
      return `${lines}        self.${attribute} = ${name}(self._sender)\n`;
    });
  } else {
    const lastCode = nearest.methods.at(-1).code;
    // A helper may follow the last method.
    const end = text.indexOf(lastCode) + lastCode.match(/^[\s\S]*?\n(?=\n\n|\n*$)/)[0].length;
    text = `${text.slice(0, end)}\n${code.replace(/\n$/, "")}${text.slice(end)}`;
  }
  return text.replace(/from \.models import \(\n([\s\S]*?)\)/, (_, names) => {
    const allNames = new Set([...names.match(/\w+/g), ...models]);
    return `from .models import (\n${[...allNames]
      .sort()
      .map((name) => `    ${name},\n`)
      .join("")})`;
  });
}

/** Returns the client's source with the missing endpoints and arguments of the document added. */
export function complete(source, document) {
  let text = source;
  for (const operation of operationsOf(document)) {
    const find = () =>
      classesOf(text)
        .flatMap(({ methods }) => methods)
        .find(({ request }) => request === operation.request);
    if (!find()) text = withOperation(text, operation);
    for (const [call, args] of [
      ["query_params", operation.query],
      ["json_body", operation.body],
    ]) {
      const { code } = find();
      const isPassed = ({ name }) =>
        new RegExp(`\\b${snakeCase(name)}_?=|"${name}":`).test(code.replace(/^[\s\S]*?\) -> .*:\n/, ""));
      const added = args.filter((one, at) => !isPassed(one) && args.findIndex(({ name }) => name === one.name) === at);
      if (added.length > 0) text = text.replace(code, () => withArguments(code, added, call));
    }
  }
  return text;
}
