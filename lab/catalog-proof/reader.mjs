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
    ...compare("parameters", documented(document, found), parameterLines(action.parameters)),
    ...compare(
      "input",
      parameterLines(action.parameters.filter((parameter) => !isKey(parameter, connector))),
      taken(action.input),
    ),
    ...bodies(document, found, action),
    ...security(document, found, action, connector),
  ];
}

function compare(what, expected, actual) {
  const lacks = [...expected].filter((line) => !actual.has(line));
  const additional = [...actual].filter((one) => !expected.has(one));
  return lacks.length + additional.length === 0
    ? []
    : [`${what}: lacks [${lacks}], and has in addition [${additional}]`];
}

/** Whether a parameter is the cookie of an API key, which the connection supplies. */
const isKey = (parameter, connector) =>
  parameter.in === "cookie" &&
  connector.authMethods.some((method) => method.in === "cookie" && method.name === parameter.name);

const line = (place, name, required) => `${place} ${name}${required ? " required" : ""}`;
const parameterLines = (list) =>
  new Set(list.map((parameter) => line(parameter.in, parameter.name, parameter.required)));

function documented(document, found) {
  const template = new Set([...found.path.split("#")[0].matchAll(/\{([^{}]+)\}/g)].map(([, name]) => name));
  const known = new Set();
  for (const { in: place, name, required } of parameters(document, found)) {
    const isOwnHeader = place === "header" && OWN_HEADERS.has(name.toLowerCase());
    if (
      !["path", "query", "header", "cookie"].includes(place) ||
      isOwnHeader ||
      (place === "path" && !template.has(name))
    )
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
    const parameterList = parameters(document, found);
    const bodyParameter = parameterList.find((parameter) => parameter.in === "body");
    const form = parameterList.filter((parameter) => parameter.in === "formData");
    if (!bodyParameter && form.length === 0) return own ? ["a body that the document lacks"] : [];
    if (!own) return ["no body"];
    if (bodyParameter)
      return [
        ...requiredBody(bodyParameter.required === true, action),
        ...members(document, bodyParameter.schema, action),
      ];
    const fields = new Set(form.map((parameter) => line("", parameter.name, parameter.required === true)));
    return compare("form", fields, membersOf(action.input.properties.body, local(action.input)));
  }
  const declaredBody = found.operation.requestBody;
  if (declaredBody === undefined || declaredBody === null) return own ? ["a body that the document lacks"] : [];
  const expected = document.resolved(declaredBody);
  if (!isObject(expected?.content) || Object.keys(expected.content).length === 0) return [];
  if (!own) return ["no body"];
  const methodTypes = new Set(Object.keys(expected.content).map((one) => one.trim()));
  return [
    ...compare("media types", methodTypes, new Set(own.contentTypes)),
    ...requiredBody(expected.required === true, action),
    ...members(document, body(document, found, action)?.schema, action),
  ];
}

function requiredBody(expected, action) {
  const actual = [action.requestBody.required, (action.input.required ?? []).includes("body")];
  return actual.every((one) => one === expected) ? [] : [`body: required is ${actual}, not ${expected}`];
}

function members(document, schema, action) {
  const expected = membersOf(schema, (reference) => document.target(reference));
  const { body: taken } = action.input.properties;
  // The input has XML and similar bodies as strings, so only `requestBody` describes their members.
  const own = taken?.type === "string" ? action.requestBody.schema : taken;
  return compare("body", expected, membersOf(own, local(action.input)));
}

const local = (input) => (reference) => input.$defs?.[reference.replace(/^#\/(input\/)?\$defs\//, "")];

/** The members of an object, including those of all alternatives, and which of them are required. */
function membersOf(schema, target) {
  const names = new Set();
  const required = new Set();
  const readOnly = new Set();
  const resolved = (reference) => {
    let schema = reference;
    for (let left = MAX_DEPTH; left > 0 && typeof schema?.$ref === "string"; left -= 1) schema = target(schema.$ref);
    return schema;
  };
  const add = (subschema, isComplete, left) => {
    const schema = resolved(subschema);
    // The members of a nullable object are not required, because null has none.
    const areMembersRequired = isComplete && !(typeof subschema?.$ref === "string" && subschema.nullable === true);
    if (!isObject(schema) || left === 0) return;
    const own = isObject(schema.properties) ? schema.properties : {};
    for (const [name, property] of Object.entries(own)) {
      if (property === null || (typeof property !== "object" && typeof property !== "boolean")) continue;
      names.add(name);
      if (property.readOnly === true || resolved(property)?.readOnly === true) readOnly.add(name);
    }
    if (areMembersRequired && Array.isArray(schema.required))
      for (const name of schema.required)
        if (typeof name === "string" && !(resolved(own[name])?.readOnly === true || own[name]?.readOnly === true))
          required.add(name);
    for (const part of Array.isArray(schema.allOf) ? schema.allOf : []) add(part, areMembersRequired, left - 1);
    for (const key of ["anyOf", "oneOf"])
      for (const part of Array.isArray(schema[key]) ? schema[key] : [])
        add(part, areMembersRequired && schema[key].length === 1 && schema.nullable !== true, left - 1);
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
      // No auth method represents other schemes, such as `mutual`.
      return { bearer: ["bearer", "api_key"], basic: ["basic"] }[String(scheme.scheme).toLowerCase()] ?? [];
    default:
      return ["oauth2"];
  }
}

const sortedUnique = (scopes) => [...new Set(scopes)].sort().join(" ");

/** Compares the action's authorization with the usable security requirements of the document, including scopes. */
function security(document, { operation }, action, connector) {
  const schemes = document.api.components?.securitySchemes ?? document.api.securityDefinitions ?? {};
  const requirements = operation.security ?? document.api.security;
  const kinds = new Map(connector.authMethods.map((method) => [method.id, method.type]));
  const actual = action.auth.map(({ method, scopes }) => ({ type: kinds.get(method), scopes: sortedUnique(scopes) }));
  if (actual.some(({ type }) => type === undefined)) return ["auth: a method that the connector lacks"];
  if (!Array.isArray(requirements))
    return actual.length === connector.authMethods.length ? [] : ["auth: not all methods"];
  const namedRequirements = requirements.filter(
    (requirement) => isObject(requirement) && Object.keys(requirement).length > 0,
  );
  if (namedRequirements.length === 0) return actual.length === 0 ? [] : ["auth: needed, and not in the document"];
  const expected = namedRequirements.map((together) => ({
    types: new Set(Object.keys(together).flatMap((name) => types(document.resolved(schemes[name]) ?? {}))),
    scopes: sortedUnique(Object.values(together).flat()),
  }));
  const fits = (method) => expected.some(({ types, scopes }) => types.has(method.type) && scopes === method.scopes);
  const usable = expected.filter(({ types }) => [...kinds.values()].some((type) => types.has(type)));
  // Without a usable scheme, any method of the connector is acceptable.
  if (usable.length === 0) return [];
  const unexpected = actual.filter((method) => !fits(method)).map(({ type, scopes }) => `${type} (${scopes})`);
  const missing = usable.filter(
    ({ types, scopes }) => !actual.some((method) => types.has(method.type) && scopes === method.scopes),
  );
  return [
    ...(unexpected.length > 0 ? [`auth: has in addition ${unexpected}`] : []),
    ...missing.map(({ types, scopes }) => `auth: lacks ${[...types].join("/")} (${scopes})`),
  ];
}
