// The examples in a document for the input of an operation.
import { isObject, parameters } from "./document.mjs";

const PARAMETER_LOCATIONS = new Set(["path", "query", "header", "cookie"]);
const MAX_EACH = 20;

/** The values of `example` and `examples`, in any version of OpenAPI. */
function exampleValues(document, holder) {
  const values = [];
  if (!isObject(holder)) return values;
  for (const key of ["example", "x-example"]) if (Object.hasOwn(holder, key)) values.push(holder[key]);
  const several = holder.examples ?? holder["x-examples"];
  if (Array.isArray(several)) values.push(...several);
  else if (isObject(several)) {
    for (const reference of Object.values(several)) {
      const example = document.resolved(reference);
      if (isObject(example) && Object.hasOwn(example, "value")) values.push(example.value);
    }
  }
  return values.filter((value) => value !== undefined && value !== null).slice(0, MAX_EACH);
}

/** The examples of a holder and of its schema. */
function allExamples(document, holder, schema) {
  return [...exampleValues(document, holder), ...exampleValues(document, document.resolved(schema))];
}

/** The schema of the body and the holder of its examples, in the media type that the catalog prefers. */
export function body(document, found, action) {
  const mediaType = action.requestBody?.contentTypes[0];
  if (mediaType === undefined) return undefined;
  if (document.isOld) {
    const parameter = parameters(document, found).find((candidate) => candidate.in === "body");
    return parameter && { holder: parameter, schema: parameter.schema, mediaType };
  }
  const content = document.resolved(found.operation.requestBody)?.content ?? {};
  const name = Object.keys(content).find((one) => one.trim() === mediaType);
  return name !== undefined && { holder: content[name], schema: content[name]?.schema, mediaType };
}

/** Decodes an example of a body: parses JSON that is written as a string. */
function decodedBody(value, mediaType, schema) {
  if (typeof value !== "string" || !/json/i.test(mediaType) || schema?.type === "string") return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

/** Decodes an example of a body's member. Examples of members that are not strings may be written as strings. */
function decodedMember(value, { type }) {
  const types = [type].flat();
  return types[0] === undefined || types.includes("string") ? value : decodedBody(value, "json");
}

const TEXT_EXAMPLES = {
  integer: (text) => (/^-?\d+$/.test(text) ? Number(text) : undefined),
  number: (text) => (/^-?\d+(\.\d+)?$/.test(text) ? Number(text) : undefined),
  boolean: (text) => (text === "true" || text === "false" ? text === "true" : undefined),
};
// The separators of lists, by OpenAPI's `style` and by Swagger's `collectionFormat`.
const SEPARATORS = { spaceDelimited: " ", pipeDelimited: "|", ssv: " ", tsv: "\t", pipes: "|" };

/**
 * Decodes an example of a parameter. OpenAPI has examples "in the correct format as specified in the parameter encoding": `1,2` is a
 * list, `"5"` can be a number, and `5` a string.
 */
function decodedParameter(document, parameter, example, value) {
  const schema = document.resolved(example) ?? {};
  const types = [schema.type].flat();
  const hasType = (type) => types.includes(type);
  const each = (list) => list.map((one) => decodedParameter(document, {}, schema.items, one));
  if (Array.isArray(value)) return hasType("array") ? each(value) : value;
  if (typeof value === "number" || typeof value === "boolean") {
    const fits = typeof value === "boolean" ? hasType("boolean") : hasType("number") || hasType("integer");
    if (fits || types[0] === undefined) return value;
    return decodedParameter(document, parameter, example, String(value));
  }
  if (typeof value !== "string" || hasType("string")) return value;
  if (hasType("array")) return each(value.split(SEPARATORS[parameter.style ?? parameter.collectionFormat] ?? ","));
  for (const type of types) {
    const read = TEXT_EXAMPLES[type]?.(value);
    if (read !== undefined) return read;
  }
  return value;
}

/** All examples: `{ at, instance, schema, value }`, where `at` points to the value in the instance. */
export function examples(document, found, action) {
  const list = [];
  const names = new Set(action.parameters.map((parameter) => `${parameter.in} ${parameter.name}`));
  for (const parameter of parameters(document, found)) {
    const place = parameter.in;
    if (!PARAMETER_LOCATIONS.has(place) || !names.has(`${place} ${parameter.name}`)) continue;
    const content = isObject(parameter.content) ? Object.values(parameter.content)[0] : undefined;
    const schema = document.isOld ? withoutRequired(parameter) : (parameter.schema ?? content?.schema ?? {});
    const values = document.isOld ? exampleValues(document, parameter) : allExamples(document, parameter, schema);
    for (const one of values) {
      // Examples of a parameter with a media type are in that format.
      const value = content
        ? decodedBody(one, Object.keys(parameter.content)[0], document.resolved(schema))
        : decodedParameter(document, parameter, schema, one);
      list.push({ at: [place, parameter.name], instance: { [place]: { [parameter.name]: value } }, schema, value });
    }
  }
  const requestBody = body(document, found, action);
  // Skips other media types, whose examples are not JSON.
  if (requestBody && /json/i.test(requestBody.mediaType)) {
    const schema = document.resolved(requestBody.schema);
    for (const example of allExamples(document, requestBody.holder, requestBody.schema)) {
      const value = decodedBody(example, requestBody.mediaType, schema);
      list.push({ at: ["body"], instance: { body: value }, schema: requestBody.schema ?? {}, value });
    }
    const isPlain = schema && !schema.allOf && !schema.anyOf && !schema.oneOf;
    for (const [name, property] of Object.entries((isPlain && schema.properties) || {}))
      for (const one of exampleValues(document, document.resolved(property))) {
        const value = decodedMember(one, document.resolved(property));
        list.push({ at: ["body", name], instance: { body: { [name]: value } }, schema: property, value });
      }
  }
  return list;
}

/** The schema of a Swagger 2 parameter, whose `required` has another meaning. */
function withoutRequired({ required, ...schema }) {
  return schema;
}
