// Lists the JSON Schema keywords in the catalog's inputs. The service must check each of them.
const SCHEMA_KEYWORDS = new Set([
  "additionalProperties",
  "items",
  "not",
  "contains",
  "propertyNames",
  "if",
  "then",
  "else",
]);
const SCHEMA_LIST_KEYWORDS = new Set(["allOf", "anyOf", "oneOf", "prefixItems"]);
const SCHEMA_MAP_KEYWORDS = new Set(["properties", "patternProperties", "$defs", "dependentSchemas"]);

/** The keywords of a schema and its subschemas. */
export function keywords(schema, found = new Set()) {
  if (typeof schema !== "object" || schema === null) return found;
  for (const [keyword, value] of Object.entries(schema)) {
    found.add(keyword);
    if (SCHEMA_KEYWORDS.has(keyword)) keywords(value, found);
    else if (SCHEMA_LIST_KEYWORDS.has(keyword)) for (const subschema of value) keywords(subschema, found);
    else if (SCHEMA_MAP_KEYWORDS.has(keyword)) for (const subschema of Object.values(value)) keywords(subschema, found);
  }
  return found;
}
