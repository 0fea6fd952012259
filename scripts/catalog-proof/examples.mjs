// The example values that a document holds for what an operation takes.
import { isObject, parameters } from "./document.mjs";

const PLACES = new Set(["path", "query", "header", "cookie"]);
const MAX_EACH = 20;

/** The values of `example` and `examples`, however the version of OpenAPI writes them. */
function given(document, holder) {
  const values = [];
  if (!isObject(holder)) return values;
  for (const key of ["example", "x-example"]) if (Object.hasOwn(holder, key)) values.push(holder[key]);
  const several = holder.examples ?? holder["x-examples"];
  if (Array.isArray(several)) values.push(...several);
  else if (isObject(several)) {
    for (const one of Object.values(several)) {
      const example = document.resolved(one);
      if (isObject(example) && Object.hasOwn(example, "value")) values.push(example.value);
    }
  }
  return values.filter((value) => value !== undefined && value !== null).slice(0, MAX_EACH);
}

/** Those of a holder and of its schema. */
function all(document, holder, schema) {
  return [...given(document, holder), ...given(document, document.resolved(schema))];
}

/** The schema and the holder of the body's examples, in the media type that the catalog prefers. */
export function body(document, found, action) {
  const mediaType = action.requestBody?.contentTypes[0];
  if (mediaType === undefined) return undefined;
  if (document.isOld) {
    const parameter = parameters(document, found).find((one) => one.in === "body");
    return parameter && { holder: parameter, schema: parameter.schema, mediaType };
  }
  const content = document.resolved(found.operation.requestBody)?.content ?? {};
  const name = Object.keys(content).find((one) => one.trim() === mediaType);
  return name !== undefined && { holder: content[name], schema: content[name]?.schema, mediaType };
}

/** What an example of a body means: JSON that is written as a text is what it says. */
function meant(value, mediaType, schema) {
  if (typeof value !== "string" || !/json/i.test(mediaType) || schema?.type === "string") return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

/** Every example: `{ at, instance, schema, value }`, where `at` points to the value in the instance. */
export function examples(document, found, action) {
  const list = [];
  const names = new Set(action.parameters.map((one) => `${one.in} ${one.name}`));
  for (const parameter of parameters(document, found)) {
    const place = parameter.in;
    if (!PLACES.has(place) || !names.has(`${place} ${parameter.name}`)) continue;
    const content = isObject(parameter.content) ? Object.values(parameter.content)[0] : undefined;
    const schema = document.isOld ? withoutOwn(parameter) : (parameter.schema ?? content?.schema ?? {});
    const values = document.isOld ? given(document, parameter) : all(document, parameter, schema);
    for (const value of values)
      list.push({ at: [place, parameter.name], instance: { [place]: { [parameter.name]: value } }, schema, value });
  }
  const taken = body(document, found, action);
  // Other media types write their examples in their own form.
  if (taken && /json/i.test(taken.mediaType)) {
    const schema = document.resolved(taken.schema);
    for (const example of all(document, taken.holder, taken.schema)) {
      const value = meant(example, taken.mediaType, schema);
      list.push({ at: ["body"], instance: { body: value }, schema: taken.schema ?? {}, value });
    }
    const isPlain = schema && !schema.allOf && !schema.anyOf && !schema.oneOf;
    for (const [name, property] of Object.entries((isPlain && schema.properties) || {}))
      for (const value of given(document, document.resolved(property)))
        list.push({ at: ["body", name], instance: { body: { [name]: value } }, schema: property, value });
  }
  return list;
}

/** The schema that a parameter of Swagger 2 is: `required` says something else there. */
function withoutOwn({ required, ...schema }) {
  return schema;
}
