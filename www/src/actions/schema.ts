// Reads JSON Schemas one level at a time, because definitions can be recursive.
import type { JsonSchema, JsonSchemaObject, JsonType } from "connector-vault/slim";

export type Definitions = Record<string, JsonSchema>;

/** The alternatives of `oneOf`, which are mutually exclusive, or of `anyOf`. */
export interface Alternatives {
  isExclusive: boolean;
  schemas: JsonSchema[];
}

/** A schema after merging its references and all parts of its `allOf`. */
export interface FlatSchema {
  /** False if the schema accepts no value. */
  isSatisfiable: boolean;
  /** Keywords without members of their own here. The schema's keywords take precedence over those of its parts. */
  keywords: JsonSchemaObject;
  properties: Map<string, JsonSchema>;
  required: Set<string>;
  choices: Alternatives[];
  /** Whether the schema accepts null in addition to other values. */
  isNullable: boolean;
  /** Name of the definition that the schema refers to. */
  name: string | undefined;
}

/** Limits the depth of type descriptions, because schemas can be recursive. */
const MAX_DEPTH = 3;
/** If a schema has more alternatives, its description contains only their number. */
const MAX_NAMED_ALTERNATIVES = 5;
const UNSUPPORTED_KEYWORDS = ["if", "then", "else", "dependentSchemas", "contains", "propertyNames", "not"];

/** Returns the definitions that an action's schemas refer to. */
export const getDefinitions = (schema: JsonSchema): Definitions =>
  (typeof schema === "object" && (schema.$defs as Definitions | undefined)) || {};

const definitionName = (reference: string) => reference.slice(reference.lastIndexOf("/") + 1);

const isNull = (schema: JsonSchema) => typeof schema === "object" && schema.type === "null";

/** Merges one level of a schema. */
export function flatten(schema: JsonSchema, definitions: Definitions): FlatSchema {
  const flat: FlatSchema = {
    isSatisfiable: true,
    keywords: {},
    properties: new Map(),
    required: new Set(),
    choices: [],
    isNullable: false,
    name: undefined,
  };
  collect(schema, definitions, flat, new Set());
  return flat;
}

function collect(schema: JsonSchema, definitions: Definitions, flat: FlatSchema, seen: Set<string>): void {
  if (typeof schema === "boolean") {
    flat.isSatisfiable &&= schema;
    return;
  }
  const { $ref, $defs: _, allOf = [], oneOf, anyOf, properties = {}, required = [], ...keywords } = schema;
  flat.keywords = { ...keywords, ...flat.keywords };
  for (const [name, property] of Object.entries(properties))
    if (!flat.properties.has(name)) flat.properties.set(name, property);
  for (const name of required) flat.required.add(name);
  if ($ref !== undefined) {
    const name = definitionName($ref);
    const isFirstVisit = !seen.has(name);
    seen.add(name);
    flat.name ??= name;
    if (isFirstVisit && Object.hasOwn(definitions, name)) collect(definitions[name] ?? true, definitions, flat, seen);
  }
  const { name } = flat;
  for (const part of allOf) collect(part, definitions, flat, seen);
  // With several parts, the name of one part does not describe the merged schema.
  if (allOf.length > 1) flat.name = name;
  for (const [schemas, isExclusive] of [
    [oneOf, true],
    [anyOf, false],
  ] as const) {
    if (!schemas) continue;
    const nonNullSchemas = schemas.filter((schema) => !isNull(schema));
    const [onlySchema] = nonNullSchemas;
    if (nonNullSchemas.length < schemas.length) flat.isNullable = true;
    // Most documents use alternatives only to make a type nullable.
    if (nonNullSchemas.length === 1 && onlySchema !== undefined) collect(onlySchema, definitions, flat, seen);
    else if (nonNullSchemas.length > 1) flat.choices.push({ isExclusive, schemas: nonNullSchemas });
  }
}

export function listTypes({ keywords, properties }: FlatSchema): JsonType[] {
  const { type, items, prefixItems, additionalProperties } = keywords;
  if (type !== undefined) return Array.isArray(type) ? type : [type];
  if (properties.size > 0 || typeof additionalProperties === "object") return ["object"];
  return items !== undefined || prefixItems !== undefined ? ["array"] : [];
}

/** Describes the type and limits: "array of string", "integer, 1–100", "string or null". */
export function describeType(schema: JsonSchema, definitions: Definitions): string {
  const flat = flatten(schema, definitions);
  const { items = true } = flat.keywords;
  const itemLimits = describeLimits(flatten(items, definitions).keywords).map((limit) => `each ${limit}`);
  return [describeFlat(flat, definitions, 0), ...describeLimits(flat.keywords), ...itemLimits].join(", ");
}

function describeFlat(flat: FlatSchema, definitions: Definitions, depth: number): string {
  if (!flat.isSatisfiable) return "nothing";
  const types = typeNames(flat, definitions, depth);
  return types.length > 0 ? joinAlternatives(flat.isNullable ? [...types, "null"] : types) : "any value";
}

function typeNames(flat: FlatSchema, definitions: Definitions, depth: number): string[] {
  const types = listTypes(flat);
  if (types.length > 0) {
    return types.map((type) => (type === "array" ? describeArray(flat, definitions, depth) : type));
  }
  const values = allowedValues(flat);
  if (values) return values.map(getJsonType);
  const [choice] = flat.choices;
  if (!choice) return [];
  if (choice.schemas.length > MAX_NAMED_ALTERNATIVES || depth >= MAX_DEPTH) return [describeAlternatives(choice)];
  return choice.schemas.map((schema) => describeFlat(flatten(schema, definitions), definitions, depth + 1));
}

function describeArray({ keywords: { items } }: FlatSchema, definitions: Definitions, depth: number): string {
  if (items === undefined || items === true || depth >= MAX_DEPTH) return "array";
  const description = describeFlat(flatten(items, definitions), definitions, depth + 1);
  return description === "any value"
    ? "array"
    : `array of ${description.includes(" or ") ? `(${description})` : description}`;
}

export const describeAlternatives = ({ isExclusive, schemas }: Alternatives) =>
  `${isExclusive ? "one of" : "any of"} ${schemas.length.toLocaleString("en")} variants`;

function joinAlternatives(names: string[]): string {
  const distinct = [...new Set(names)];
  // Sort null last.
  distinct.sort((a, b) => Number(a === "null") - Number(b === "null"));
  const lastName = distinct.pop() ?? "any value";
  return distinct.length > 0 ? `${distinct.join(", ")} or ${lastName}` : lastName;
}

function getJsonType(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value;
}

function describeLimits(keywords: JsonSchemaObject): string[] {
  const { format, minLength, maxLength, minItems, maxItems, minProperties, maxProperties, multipleOf } = keywords;
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, uniqueItems } = keywords;
  return [
    format,
    describeRange(minimum, maximum, ""),
    exclusiveMinimum !== undefined && `more than ${formatNumber(exclusiveMinimum)}`,
    exclusiveMaximum !== undefined && `less than ${formatNumber(exclusiveMaximum)}`,
    multipleOf !== undefined && multipleOf !== 1 && `a multiple of ${formatNumber(multipleOf)}`,
    describeRange(minLength || undefined, maxLength, "character"),
    describeRange(minItems || undefined, maxItems, "item"),
    uniqueItems && "unique items",
    describeRange(minProperties || undefined, maxProperties, "member"),
  ].filter((limit) => typeof limit === "string");
}

/** Describes a range: "1–100 characters", "at least 1 item", "at most 5". */
function describeRange(min: number | undefined, max: number | undefined, unit: string): string | undefined {
  if (min === undefined && max === undefined) return undefined;
  const units = unit && ` ${unit}${(max ?? min) === 1 ? "" : "s"}`;
  if (max === undefined) return `at least ${formatNumber(min)}${units}`;
  if (min === undefined) return `at most ${formatNumber(max)}${units}`;
  return min === max
    ? `exactly ${formatNumber(max)}${units}`
    : `${formatNumber(min)}${min < 0 || max < 0 ? " to " : "–"}${formatNumber(max)}${units}`;
}

const formatNumber = (value: number | undefined) => value?.toLocaleString("en", { maximumFractionDigits: 20 });

/** Returns the allowed values, or undefined if the schema does not restrict them. */
export function allowedValues({ keywords }: FlatSchema): unknown[] | undefined {
  if (keywords.const !== undefined) return [keywords.const];
  return keywords.enum;
}

export const formatValue = (value: unknown) =>
  typeof value === "string" && value !== "" ? value : JSON.stringify(value);

/** The next level of a schema. */
export interface NestedSchema {
  /** The schema of the value itself, or of each of its items. */
  flat: FlatSchema;
  isItem: boolean;
  /** Label of the button that expands the level: "3 properties". */
  title: string;
}

/** Returns the next level, or undefined if the schema has none. */
export function getNestedSchema(flat: FlatSchema, definitions: Definitions): NestedSchema | undefined {
  const ownTitle = formatNestedTitle(flat, definitions);
  if (ownTitle) return { flat, isItem: false, title: ownTitle };
  const { items } = flat.keywords;
  if (typeof items !== "object") return undefined;
  const item = flatten(items, definitions);
  const title =
    formatNestedTitle(item, definitions) ?? (hasNestedSchema(items, definitions, 0) ? "each item" : undefined);
  if (title) return { flat: item, isItem: true, title };
  return allowedValues(item) || item.keywords.description
    ? { flat: item, isItem: true, title: "each item" }
    : undefined;
}

/** Whether the schema has details that the text of `describeType` lacks. */
function hasNestedSchema(schema: JsonSchema, definitions: Definitions, depth: number): boolean {
  const flat = flatten(schema, definitions);
  if (formatNestedTitle(flat, definitions)) return true;
  const { items } = flat.keywords;
  return typeof items === "object" && (depth >= MAX_DEPTH || hasNestedSchema(items, definitions, depth + 1));
}

/** Label of the next level: "3 properties", "one of 2 forms". */
function formatNestedTitle(flat: FlatSchema, definitions: Definitions): string | undefined {
  const { properties, choices, keywords } = flat;
  const count = properties.size + getPatternProperties(flat).length;
  if (count > 0) return `${count.toLocaleString("en")} ${count === 1 ? "property" : "properties"}`;
  const choice = choices.find((choice) => isInformative(choice, definitions));
  if (choice) return describeAlternatives(choice);
  if (keywords.prefixItems) return "items by position";
  return typeof keywords.additionalProperties === "object" && Object.keys(keywords.additionalProperties).length > 0
    ? "any property"
    : undefined;
}

/** Whether the alternatives have details beyond their types. */
const isInformative = ({ schemas }: Alternatives, definitions: Definitions) =>
  schemas.length > MAX_NAMED_ALTERNATIVES ||
  schemas.some((schema) => {
    const { properties, choices, keywords } = flatten(schema, definitions);
    const { type: _, ...otherKeywords } = keywords;
    return properties.size > 0 || choices.length > 0 || Object.keys(otherKeywords).length > 0;
  });

/** Returns the schemas of properties whose names match a pattern. */
export const getPatternProperties = ({ keywords }: FlatSchema): [pattern: string, schema: JsonSchema][] =>
  Object.entries(keywords.patternProperties ?? {});

export const informativeAlternatives = (flat: FlatSchema, definitions: Definitions) =>
  flat.choices.filter((choice) => isInformative(choice, definitions));

/** Whether a schema has conditions that a list of properties can't show. */
export const isConditional = ({ keywords }: FlatSchema) =>
  UNSUPPORTED_KEYWORDS.some((keyword) => keywords[keyword] !== undefined);
