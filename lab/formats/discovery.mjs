// Checks requests against a document in Google's Discovery format, as the format's specification describes it:
// https://developers.google.com/discovery/v1/reference/apis
import Ajv2020 from "ajv/dist/2020.js";

const NUMBER_PATTERN = /^-?\d+(\.\d+)?([eE][-+]?\d+)?$/;
const INTEGER_PATTERN = /^-?\d+$/;

/** Converts a schema of the format to JSON Schema. Objects forbid additional members, because Google rejects unknown ones. */
function jsonSchema(googleSchema) {
  if (googleSchema.$ref) return { $ref: `#/$defs/${googleSchema.$ref}` };
  const schema = {};
  if (googleSchema.type && googleSchema.type !== "any") schema.type = googleSchema.type;
  if (googleSchema.enum) schema.enum = googleSchema.enum;
  if (googleSchema.pattern) schema.pattern = googleSchema.pattern;
  if (googleSchema.items) schema.items = jsonSchema(googleSchema.items);
  if (googleSchema.properties) schema.properties = map(googleSchema.properties);
  if (googleSchema.additionalProperties) schema.additionalProperties = jsonSchema(googleSchema.additionalProperties);
  else if (googleSchema.properties) schema.additionalProperties = false;
  return schema;
}

const map = (schemas) =>
  Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, jsonSchema(schema)]));

/** A regular expression for the path of a method. `{+name}` stands for several segments. */
function expression(path) {
  const names = [];
  const source = path.replace(/\{(\+?)([^}]+)\}|[^{}]+/g, (literal, plus, name) => {
    if (name === undefined) return literal.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    names.push(name);
    return plus ? "(.+)" : "([^/]+)";
  });
  return { names, matches: new RegExp(`^/?${source}$`) };
}

function* methods(holder) {
  yield* Object.values(holder.methods ?? {});
  for (const resource of Object.values(holder.resources ?? {})) yield* methods(resource);
}

export class DiscoveryApi {
  constructor(document) {
    this.document = document;
    this.methods = [...methods(document)].map((method) => ({ method, ...expression(method.path) }));
    this.ajv = new Ajv2020({ strict: false, validateFormats: false });
    this.definitions = map(document.schemas ?? {});
  }

  /** The faults of a request to this path below the document's base URL. */
  faults({ verb, path, query, body }) {
    const matching = this.methods.filter(({ method, matches }) => method.httpMethod === verb && matches.test(path));
    if (matching.length === 0) return [`no method ${verb} ${path}`];
    // Several paths can match, because `{+name}` matches any number of segments.
    const faults = matching.map((one) => this.#faults(one, path, query, body));
    return faults.sort((a, b) => a.length - b.length)[0];
  }

  #faults({ method, names, matches }, path, query, body) {
    const values = matches.exec(path).slice(1).map(decodeURIComponent);
    const known = { ...this.document.parameters, ...method.parameters };
    const ownParameters = Object.entries(method.parameters ?? {});
    const required = ownParameters.filter(([, one]) => one.required && one.location === "query").map(([name]) => name);
    return [
      ...names.flatMap((name, at) => valueFaults(name, known[name] ?? {}, values[at])),
      ...required.filter((name) => !query.has(name)).map((name) => `${name} is missing`),
      ...[...new Set(query.keys())].flatMap((name) => parameterFaults(name, known[name], query.getAll(name))),
      ...this.#bodyFaults(method, body),
    ];
  }

  #bodyFaults(method, body) {
    if (body === "") return [];
    if (!method.request) return ["the method takes no body"];
    const $defs = this.definitions;
    const validate = (method.validate ??= this.ajv.compile({ $defs, $ref: `#/$defs/${method.request.$ref}` }));
    return validate(JSON.parse(body))
      ? []
      : validate.errors.map((error) => `body${error.instancePath}: ${error.message}`);
  }
}

function parameterFaults(name, known, values) {
  if (known?.location !== "query") return [`${name} is not a parameter`];
  if (values.length > 1 && !known.repeated) return [`${name} occurs ${values.length} times`];
  return values.flatMap((value) => valueFaults(name, known, value));
}

/** The faults of a parameter's value. Discovery documents write numeric limits as strings. */
function valueFaults(name, { type, enum: words, pattern, minimum, maximum }, value) {
  const is = {
    integer: () => INTEGER_PATTERN.test(value),
    number: () => NUMBER_PATTERN.test(value),
    boolean: () => value === "true" || value === "false",
  };
  const isValid =
    (is[type]?.() ?? true) &&
    (words?.includes(value) ?? true) &&
    (!pattern || new RegExp(pattern).test(value)) &&
    !(Number(value) < Number(minimum ?? Number.NaN)) &&
    !(Number(value) > Number(maximum ?? Number.NaN));
  return isValid ? [] : [`${name} is ${value}`];
}
