// Known reasons for differences from the requests of npm's `swagger-client` and the validation of npm's Prism.

const query = (line, change) => line.replace(/\?(.*)$/, (_, text) => `?${text.split("&").flatMap(change).join("&")}`);
const isForm = ({ headers }) => headers.includes("content-type: application/x-www-form-urlencoded");
const decoded = (text) => text.replaceAll(/(?:%[\dA-F]{2})+/g, (escapes) => decodeURIComponent(escapes));
const decodedName = (pair) => pair.replace(/^[^=]*/, (name) => decodeURIComponent(name));

/** Decodes a pair: JSON becomes a pair for each of its values, and names lose brackets and list indexes. */
function decodedPairs(pair) {
  const [name, ...value] = decoded(pair).split("=");
  return pairs(name.replaceAll(/\[\d*\]/g, ""), value.join("="));
}

function pairs(name, value) {
  const decoded = typeof value === "string" && /^[[{]/.test(value) ? parsed(value) : value;
  if (Array.isArray(decoded)) return decoded.flatMap((item) => pairs(name, item));
  if (typeof decoded !== "object" || decoded === null) return [`${name}=${decoded ?? ""}`];
  return Object.entries(decoded).flatMap(([member, one]) => pairs(`${name}[${member}]`, one));
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Known reasons, each with a function that normalizes a request, so that requests that differ only for that reason become equal. */
const REQUEST_REASONS = [
  {
    why: "swagger-client omits parameters with an empty value",
    plain: ({ line, ...rest }) => ({
      line: query(line, (pair) => (pair.endsWith("=") ? [] : [pair])).replace(/\?$/, ""),
      ...rest,
    }),
  },
  {
    why: "swagger-client also applies `allowReserved` to names, not only to values",
    plain: ({ line, ...rest }) => ({ line: query(line, (pair) => [decodedName(pair)]), ...rest }),
  },
  {
    why: "OpenAPI does not define nested values in a `deepObject`: swagger-client repeats the name of a list, and writes other values as JSON",
    plain: ({ line, body, ...rest }) => ({
      line: query(line, decodedPairs),
      body: isForm(rest) ? body.split("&").flatMap(decodedPairs).join("&") : body,
      ...rest,
    }),
  },
];

/** The known reason why two requests differ; undefined if there is none. */
export function reasonOfRequest(ours, theirs) {
  const same = (plain) => JSON.stringify(plain(ours)) === JSON.stringify(plain(theirs));
  return REQUEST_REASONS.find(({ plain }) => same(plain))?.why;
}

const OMITTED = "Left out, since the schema would be too large.";
// Prism adds a pattern to the format `byte`.
const FORMAT = /must match (format|pattern "\^\[\\w\\d\+\\\/=\]\*\$")/;
const isText = (type = "") => !/json|form-urlencoded|form-data/.test(type) && type !== "*/*";
const all = (list, fits) => list.length > 0 && list.every(fits);

/** Returns the reason why the service and Prism disagree on an input. `found` has the errors of Prism. */
export function reasonOfDisagreement(document, action, { input, valid, response, found = [] }) {
  const [mediaType] = action.requestBody?.contentTypes ?? [];
  const refusals = (response.json?.errors ?? []).map(({ detail }) => detail);
  if (response.status !== 200) {
    if (!valid) return undefined;
    if (all(refusals, (text) => /must not be empty, and must not be/.test(text)))
      return "no path segment may be empty or `..`";
    return undefined;
  }
  const plain = found.filter((text) => !FORMAT.test(text));
  if (found.length > 0 && plain.length === 0) return "in JSON Schema 2020-12, `format` is only an annotation";
  if (all(plain, (text) => /^header.* '?(accept|content-type|authorization)\b/i.test(text.replace("parameter ", "'"))))
    return "OpenAPI says to ignore parameters named Accept, Content-Type or Authorization";
  if (
    all(plain, (text) => hasContradictoryEnum(document, /(?:parameter|property) (?:\S*\.)?(\S+) must/.exec(text)?.[1]))
  )
    return "no value of the schema's `enum` has its `type`, in the document";
  if (/form-data/.test(mediaType) && all(plain, (text) => /must be array/.test(text)))
    return "Prism reads only one of the parts with the same name";
  if (isText(mediaType) && all(plain, (text) => text.startsWith("body")))
    return "a media type that is text or bytes takes a string, whatever its schema";
  if (
    /form-urlencoded/.test(mediaType) &&
    isEmpty(input.body) &&
    all(plain, (text) => text === " Body parameter is required")
  )
    return "a form without members is an empty body, which Prism treats as missing";
  if (
    all(plain, (text) =>
      isNested(action, input, /^query\.([^.]+)\.(\S+) .* must be (?:object|array)$/.exec(text) ?? []),
    )
  )
    return "OpenAPI does not define how lists and objects in an exploded object are serialized: they are written as JSON";
  if (isAmbiguous(document, action)) return "Prism matches another operation with the same path";
  if (JSON.stringify(action.input).includes(OMITTED)) return "a part of the schema is omitted because of its size";
  return undefined;
}

/** Whether all members of a form are empty lists. */
const isEmpty = (form) => form && Object.values(form).every((value) => Array.isArray(value) && value.length === 0);

/** Whether a member of an exploded object in the query is a list or an object. Prism writes names in lower case. */
function isNested(action, input, [, name, member] = []) {
  const isNamed = (parameter) =>
    parameter.in === "query" &&
    parameter.name.toLowerCase() === name &&
    parameter.style === "form" &&
    parameter.explode;
  const queryValue = input.query?.[action.parameters.find(isNamed)?.name];
  return typeof queryValue === "object" && !Array.isArray(queryValue) && typeof queryValue?.[member] === "object";
}

const TYPES = {
  string: (value) => typeof value === "string",
  integer: Number.isInteger,
  number: (value) => typeof value === "number",
  boolean: (value) => typeof value === "boolean",
  array: Array.isArray,
  object: (value) => typeof value === "object" && !Array.isArray(value),
};

/** Whether a document has a parameter or property of this name whose `enum` has no value of its type. */
function hasContradictoryEnum(document, name) {
  const isEnumContradictory = (reference) => {
    const schema = document.resolved(reference) ?? {};
    return Array.isArray(schema.enum) && TYPES[schema.type] && !schema.enum.some((value) => TYPES[schema.type](value));
  };
  const search = (value) => {
    if (typeof value !== "object" || value === null) return false;
    if (value.name?.toLowerCase?.() === name && isEnumContradictory(value.schema)) return true;
    if (value.properties && Object.hasOwn(value.properties, name) && isEnumContradictory(value.properties[name]))
      return true;
    return Object.values(value).some(search);
  };
  return name !== undefined && search(document.api);
}

/** Whether two paths of a document differ only in the names of their parameters. */
function isAmbiguous(document, { path }) {
  const plain = (template) => template.replace(/\{[^}]*\}/g, "{}");
  return Object.keys(document.api.paths).filter((otherPath) => plain(otherPath) === plain(path)).length > 1;
}
