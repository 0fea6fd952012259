// What a JSON Schema says, one level at a time: definitions may refer to themselves, so nothing here follows all of them.
import type { JsonSchema, JsonSchemaObject, JsonType } from "connector-vault/slim";

export type Definitions = Record<string, JsonSchema>;

/** Alternatives of which a value must match one, or at least one. */
export interface Alternatives {
  isExclusive: boolean;
  schemas: JsonSchema[];
}

/** A schema together with what it refers to and all parts of its `allOf`. */
export interface FlatSchema {
  /** False if no value is valid. */
  isSatisfiable: boolean;
  /** What it says besides the members below; the schema's own words come before those of its parts. */
  keywords: JsonSchemaObject;
  properties: Map<string, JsonSchema>;
  required: Set<string>;
  choices: Alternatives[];
  /** Whether null is an alternative to all this. */
  isNullable: boolean;
  /** The name of the definition that it is. */
  name: string | undefined;
}

/** Ways through a schema end here. */
const MAX_DEPTH = 3;
/** Alternatives that are named; of more, only the number is. */
const MAX_NAMED_ALTERNATIVES = 5;
const UNSUPPORTED_KEYWORDS = ["if", "then", "else", "dependentSchemas", "contains", "propertyNames", "not"];

/** The definitions that the schemas of an answer lead to. */
export const definitionsOf = (schema: JsonSchema): Definitions =>
  (typeof schema === "object" && (schema.$defs as Definitions | undefined)) || {};

/** `#/input/$defs/label` and `#/$defs/label` → `label` */
const definitionName = (reference: string) => reference.slice(reference.lastIndexOf("/") + 1);

const isNull = (schema: JsonSchema) => typeof schema === "object" && schema.type === "null";

/** The level of a schema that is seen at once. */
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
    const isNew = !seen.has(name);
    seen.add(name);
    flat.name ??= name;
    if (isNew && Object.hasOwn(definitions, name)) collect(definitions[name] ?? true, definitions, flat, seen);
  }
  const { name } = flat;
  for (const part of allOf) collect(part, definitions, flat, seen);
  // One part of several is not the whole.
  if (allOf.length > 1) flat.name = name;
  for (const [schemas, isExclusive] of [
    [oneOf, true],
    [anyOf, false],
  ] as const) {
    if (!schemas) continue;
    const rest = schemas.filter((one) => !isNull(one));
    const [only] = rest;
    if (rest.length < schemas.length) flat.isNullable = true;
    // "This or null" is all that most documents say with alternatives.
    if (rest.length === 1 && only !== undefined) collect(only, definitions, flat, seen);
    else if (rest.length > 1) flat.choices.push({ isExclusive, schemas: rest });
  }
}

/** The types that a value may have. */
export function typesOf({ keywords, properties }: FlatSchema): JsonType[] {
  const { type, items, prefixItems, additionalProperties } = keywords;
  if (type !== undefined) return Array.isArray(type) ? type : [type];
  if (properties.size > 0 || typeof additionalProperties === "object") return ["object"];
  return items !== undefined || prefixItems !== undefined ? ["array"] : [];
}

/** What values a schema allows, in words: "array of string", "integer, 1–100", "string or null". */
export function describeType(schema: JsonSchema, definitions: Definitions): string {
  const flat = flatten(schema, definitions);
  const { items = true } = flat.keywords;
  const ofItems = describeLimits(flatten(items, definitions).keywords).map((limit) => `each ${limit}`);
  return [describeFlat(flat, definitions, 0), ...describeLimits(flat.keywords), ...ofItems].join(", ");
}

function describeFlat(flat: FlatSchema, definitions: Definitions, depth: number): string {
  if (!flat.isSatisfiable) return "nothing";
  const words = typeNames(flat, definitions, depth);
  return words.length > 0 ? joinAlternatives(flat.isNullable ? [...words, "null"] : words) : "any value";
}

function typeNames(flat: FlatSchema, definitions: Definitions, depth: number): string[] {
  const types = typesOf(flat);
  if (types.length > 0) {
    return types.map((type) => (type === "array" ? describeArray(flat, definitions, depth) : type));
  }
  const values = allowedValues(flat);
  if (values) return values.map(typeOfValue);
  const [choice] = flat.choices;
  if (!choice) return [];
  if (choice.schemas.length > MAX_NAMED_ALTERNATIVES || depth >= MAX_DEPTH) return [describeAlternatives(choice)];
  return choice.schemas.map((schema) => describeFlat(flatten(schema, definitions), definitions, depth + 1));
}

function describeArray({ keywords: { items } }: FlatSchema, definitions: Definitions, depth: number): string {
  if (items === undefined || items === true || depth >= MAX_DEPTH) return "array";
  const words = describeFlat(flatten(items, definitions), definitions, depth + 1);
  return words === "any value" ? "array" : `array of ${words.includes(" or ") ? `(${words})` : words}`;
}

/** "one of 12 forms" */
export const describeAlternatives = ({ isExclusive, schemas }: Alternatives) =>
  `${isExclusive ? "one of" : "any of"} ${schemas.length.toLocaleString("en")} forms`;

function joinAlternatives(words: string[]): string {
  const distinct = [...new Set(words)];
  // What a value can be comes before that it can be missing.
  distinct.sort((a, b) => Number(a === "null") - Number(b === "null"));
  const last = distinct.pop() ?? "any value";
  return distinct.length > 0 ? `${distinct.join(", ")} or ${last}` : last;
}

function typeOfValue(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value;
}

/** Format, range and length. */
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
    uniqueItems && "no item twice",
    describeRange(minProperties || undefined, maxProperties, "member"),
  ].filter((limit) => typeof limit === "string");
}

/** "1–100 characters", "at least 1 item", "at most 5" */
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

/** The values that are allowed; undefined for all. */
export function allowedValues({ keywords }: FlatSchema): unknown[] | undefined {
  if (keywords.const !== undefined) return [keywords.const];
  return keywords.enum;
}

/** A value as somebody would write it. */
export const formatValue = (value: unknown) =>
  typeof value === "string" && value !== "" ? value : JSON.stringify(value);

/** What is below a level. */
export interface NestedSchema {
  /** What holds it: the value itself, or each item of it. */
  flat: FlatSchema;
  isItem: boolean;
  /** What can be opened: "3 properties". */
  title: string;
}

/** What can be opened below a level; undefined if there is nothing more to say. */
export function nestedSchemaOf(flat: FlatSchema, definitions: Definitions): NestedSchema | undefined {
  const own = nestedTitle(flat, definitions);
  if (own) return { flat, isItem: false, title: own };
  const { items } = flat.keywords;
  if (typeof items !== "object") return undefined;
  const item = flatten(items, definitions);
  const title = nestedTitle(item, definitions) ?? (hasNestedSchema(items, definitions, 0) ? "each item" : undefined);
  if (title) return { flat: item, isItem: true, title };
  return allowedValues(item) || item.keywords.description
    ? { flat: item, isItem: true, title: "each item" }
    : undefined;
}

/** Whether there is more to say of a schema than words can. */
function hasNestedSchema(schema: JsonSchema, definitions: Definitions, depth: number): boolean {
  const flat = flatten(schema, definitions);
  if (nestedTitle(flat, definitions)) return true;
  const { items } = flat.keywords;
  return typeof items === "object" && (depth >= MAX_DEPTH || hasNestedSchema(items, definitions, depth + 1));
}

/** Names what a level contains: "3 properties", "one of 2 forms". */
function nestedTitle(flat: FlatSchema, definitions: Definitions): string | undefined {
  const { properties, choices, keywords } = flat;
  const count = properties.size + patternPropertiesOf(flat).length;
  if (count > 0) return `${count.toLocaleString("en")} ${count === 1 ? "property" : "properties"}`;
  const choice = choices.find((choice) => isInformative(choice, definitions));
  if (choice) return describeAlternatives(choice);
  if (keywords.prefixItems) return "items by their place";
  return typeof keywords.additionalProperties === "object" && Object.keys(keywords.additionalProperties).length > 0
    ? "each member"
    : undefined;
}

/** Whether alternatives say more than their types. */
const isInformative = ({ schemas }: Alternatives, definitions: Definitions) =>
  schemas.length > MAX_NAMED_ALTERNATIVES ||
  schemas.some((schema) => {
    const { properties, choices, keywords } = flatten(schema, definitions);
    const { type: _, ...more } = keywords;
    return properties.size > 0 || choices.length > 0 || Object.keys(more).length > 0;
  });

/** The schemas of properties by a pattern of their names. */
export const patternPropertiesOf = ({ keywords }: FlatSchema): [pattern: string, schema: JsonSchema][] =>
  Object.entries(keywords.patternProperties ?? {});

/** The alternatives worth a list of their own. */
export const informativeAlternatives = (flat: FlatSchema, definitions: Definitions) =>
  flat.choices.filter((choice) => isInformative(choice, definitions));

/** Whether a schema has conditions that no list of properties can show. */
export const isConditional = ({ keywords }: FlatSchema) =>
  UNSUPPORTED_KEYWORDS.some((keyword) => keywords[keyword] !== undefined);
