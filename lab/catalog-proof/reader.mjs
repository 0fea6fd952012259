// Compares an action with its operation, as @apidevtools/swagger-parser reads it.
import { isObject, parameters } from "./document.mjs";
import { body } from "./examples.mjs";

// OpenAPI 3 ignores header parameters of these names: the body and the security schemes define them.
const OWN_HEADERS = new Set(["accept", "content-type", "authorization"]);
const MAX_DEPTH = 12;

/** All differences, as strings. */
export function differences(document, found, action, connector) {
  if (!found) return [`no operation ${action.method} ${action.path}`];
  return [
    ...compare("parameters", documented(document, found), listed(action.parameters)),
    ...compare("input", listed(action.parameters.filter((one) => !isKey(one, connector))), taken(action.input)),
    ...bodies(document, found, action),
    ...security(document, found, action, connector),
  ];
}

function compare(what, expected, got) {
  const lacks = [...expected].filter((one) => !got.has(one));
  const more = [...got].filter((one) => !expected.has(one));
  return lacks.length + more.length === 0 ? [] : [`${what}: lacks [${lacks}], and has in addition [${more}]`];
}

/** Whether a parameter is the cookie of an API key, which the connection supplies. */
const isKey = (parameter, connector) =>
  parameter.in === "cookie" && connector.authMethods.some((one) => one.in === "cookie" && one.name === parameter.name);

const line = (place, name, required) => `${place} ${name}${required ? " required" : ""}`;
const listed = (list) => new Set(list.map((one) => line(one.in, one.name, one.required)));

function documented(document, found) {
  const template = new Set([...found.path.split("#")[0].matchAll(/\{([^{}]+)\}/g)].map(([, name]) => name));
  const known = new Set();
  for (const { in: place, name, required } of parameters(document, found)) {
    const isOwn = place === "header" && OWN_HEADERS.has(name.toLowerCase());
    if (!["path", "query", "header", "cookie"].includes(place) || isOwn || (place === "path" && !template.has(name)))
      continue;
    known.add(line(place, name, required === true || place === "path"));
  }
  // Undeclared path parameters are required too.
  for (const name of template) known.add(line("path", name, true));
  return known;
}

function taken(input) {
  const found = new Set();
  for (const place of ["path", "query", "header", "cookie"]) {
    const object = input.properties[place];
    const required = new Set(object?.required);
    for (const name of Object.keys(object?.properties ?? {})) found.add(line(place, name, required.has(name)));
  }
  return found;
}

function bodies(document, found, action) {
  const own = action.requestBody;
  if (document.isOld) {
    const given = parameters(document, found);
    const whole = given.find((one) => one.in === "body");
    const form = given.filter((one) => one.in === "formData");
    if (!whole && form.length === 0) return own ? ["a body that the document lacks"] : [];
    if (!own) return ["no body"];
    if (whole) return [...requiredBody(whole.required === true, action), ...members(document, whole.schema, action)];
    const fields = new Set(form.map((one) => line("", one.name, one.required === true)));
    return compare("form", fields, flat(action.input.properties.body, local(action.input)));
  }
  const given = found.operation.requestBody;
  if (given === undefined || given === null) return own ? ["a body that the document lacks"] : [];
  const expected = document.resolved(given);
  if (!isObject(expected?.content) || Object.keys(expected.content).length === 0) return [];
  if (!own) return ["no body"];
  const types = new Set(Object.keys(expected.content).map((one) => one.trim()));
  return [
    ...compare("media types", types, new Set(own.contentTypes)),
    ...requiredBody(expected.required === true, action),
    ...members(document, body(document, found, action)?.schema, action),
  ];
}

function requiredBody(expected, action) {
  const got = [action.requestBody.required, (action.input.required ?? []).includes("body")];
  return got.every((one) => one === expected) ? [] : [`body: required is ${got}, not ${expected}`];
}

function members(document, schema, action) {
  const expected = flat(schema, (reference) => document.target(reference));
  const { body: taken } = action.input.properties;
  // XML and similar bodies are strings: then only `requestBody` has the members.
  const own = taken?.type === "string" ? action.requestBody.schema : taken;
  return compare("body", expected, flat(own, local(action.input)));
}

const local = (input) => (reference) => input.$defs?.[reference.replace(/^#\/(input\/)?\$defs\//, "")];

/** The members of an object, including those of all alternatives, and which of them are required. */
function flat(schema, target) {
  const names = new Set();
  const required = new Set();
  const readOnly = new Set();
  const resolved = (given) => {
    let one = given;
    for (let left = MAX_DEPTH; left > 0 && typeof one?.$ref === "string"; left -= 1) one = target(one.$ref);
    return one;
  };
  const add = (given, isWhole, left) => {
    const one = resolved(given);
    // A nullable object does not require the members.
    const isSure = isWhole && !(typeof given?.$ref === "string" && given.nullable === true);
    if (!isObject(one) || left === 0) return;
    const own = isObject(one.properties) ? one.properties : {};
    for (const [name, property] of Object.entries(own)) {
      if (property === null || (typeof property !== "object" && typeof property !== "boolean")) continue;
      names.add(name);
      if (property.readOnly === true || resolved(property)?.readOnly === true) readOnly.add(name);
    }
    if (isSure && Array.isArray(one.required))
      for (const name of one.required)
        if (typeof name === "string" && !(resolved(own[name])?.readOnly === true || own[name]?.readOnly === true))
          required.add(name);
    for (const part of Array.isArray(one.allOf) ? one.allOf : []) add(part, isSure, left - 1);
    for (const key of ["anyOf", "oneOf"])
      for (const part of Array.isArray(one[key]) ? one[key] : [])
        add(part, isSure && one[key].length === 1 && one.nullable !== true, left - 1);
  };
  add(schema, true, MAX_DEPTH);
  return new Set([...names].map((name) => line("", name, required.has(name))));
}

/** The types of auth methods that can represent a security scheme. */
function types(scheme) {
  switch (String(scheme.type).toLowerCase()) {
    case "apikey":
      return ["api_key", "bearer", "aws_sigv4"];
    case "basic":
      return ["basic"];
    case "http":
      // Other schemes, such as `mutual`, have no method.
      return { bearer: ["bearer", "api_key"], basic: ["basic"] }[String(scheme.scheme).toLowerCase()] ?? [];
    default:
      return ["oauth2"];
  }
}

/** Sorts scopes and removes duplicates. */
const all = (scopes) => [...new Set(scopes)].sort().join(" ");

/** Compares the ways to authorize with the usable security requirements of the document, including scopes. */
function security(document, { operation }, action, connector) {
  const schemes = document.api.components?.securitySchemes ?? document.api.securityDefinitions ?? {};
  const given = operation.security ?? document.api.security;
  const kinds = new Map(connector.authMethods.map((method) => [method.id, method.type]));
  const got = action.auth.map(({ method, scopes }) => ({ type: kinds.get(method), scopes: all(scopes) }));
  if (got.some(({ type }) => type === undefined)) return ["auth: a method that the connector lacks"];
  if (!Array.isArray(given)) return got.length === connector.authMethods.length ? [] : ["auth: not all methods"];
  const named = given.filter((one) => isObject(one) && Object.keys(one).length > 0);
  if (named.length === 0) return got.length === 0 ? [] : ["auth: needed, and not in the document"];
  const expected = named.map((together) => ({
    types: new Set(Object.keys(together).flatMap((name) => types(document.resolved(schemes[name]) ?? {}))),
    scopes: all(Object.values(together).flat()),
  }));
  const fits = (one) => expected.some(({ types, scopes }) => types.has(one.type) && scopes === one.scopes);
  const usable = expected.filter(({ types }) => [...kinds.values()].some((type) => types.has(type)));
  // Without a usable scheme, any method of the connector is acceptable.
  if (usable.length === 0) return [];
  const strange = got.filter((one) => !fits(one)).map(({ type, scopes }) => `${type} (${scopes})`);
  const lacking = usable.filter(
    ({ types, scopes }) => !got.some((one) => types.has(one.type) && scopes === one.scopes),
  );
  return [
    ...(strange.length > 0 ? [`auth: has in addition ${strange}`] : []),
    ...lacking.map(({ types, scopes }) => `auth: lacks ${[...types].join("/")} (${scopes})`),
  ];
}
