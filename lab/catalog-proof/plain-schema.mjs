// Converts a document's schema for a validator, to check whether it also rejects an example that the catalog's schema rejects.
// Written independently of the importer.
import { isObject } from "./document.mjs";

const KEPT_KEYWORDS = [
  "type enum const minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength pattern",
  "minItems maxItems uniqueItems minProperties maxProperties required",
].flatMap((line) => line.split(" "));

/** The JSON Schema of `schema`, with the definitions that it references. */
export function plainSchema(document, schema) {
  const $defs = {};
  const names = new Map();
  const name = (reference) => {
    if (!names.has(reference)) {
      names.set(reference, `d${names.size}`);
      const target = document.target(reference);
      $defs[names.get(reference)] = target === undefined ? {} : written(target, name);
    }
    return names.get(reference);
  };
  const top = written(schema, name);
  return isObject(top) ? { ...top, $defs } : top;
}

function isPattern(pattern) {
  try {
    return typeof pattern === "string" && new RegExp(pattern, "u") !== undefined;
  } catch {
    return false;
  }
}

function written(schema, name) {
  if (typeof schema === "boolean") return schema;
  if (!isObject(schema)) return {};
  if (typeof schema.$ref === "string") return { $ref: `#/$defs/${name(schema.$ref)}` };
  const out = {};
  for (const key of KEPT_KEYWORDS) if (schema[key] !== undefined) out[key] = schema[key];
  // Removes an invalid pattern, which would make the whole schema invalid.
  if (!isPattern(out.pattern)) delete out.pattern;
  for (const key of ["allOf", "anyOf", "oneOf", "prefixItems"])
    if (Array.isArray(schema[key])) out[key] = schema[key].map((subschema) => written(subschema, name));
  for (const key of ["additionalProperties", "items", "not"])
    if (schema[key] !== undefined) out[key] = written(schema[key], name);
  if (isObject(schema.properties)) {
    const each = Object.entries(schema.properties).map(([key, subschema]) => [key, written(subschema, name)]);
    out.properties = Object.fromEntries(each);
  }
  for (const [exclusive, limit] of [
    ["exclusiveMinimum", "minimum"],
    ["exclusiveMaximum", "maximum"],
  ]) {
    if (typeof out[exclusive] !== "boolean") continue;
    if (out[exclusive]) {
      out[exclusive] = out[limit];
      delete out[limit];
    } else delete out[exclusive];
  }
  if (out.type === "file") delete out.type;
  return schema.nullable === true || schema["x-nullable"] === true ? { anyOf: [out, { type: "null" }] } : out;
}
