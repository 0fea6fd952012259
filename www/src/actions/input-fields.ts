// Converts the input of an action to form fields: text, number, choice, or JSON for anything else.
import type { ActionInput, JsonSchema } from "connector-vault/slim";
import { type Definitions, flatten, listTypes, allowedValues } from "./schema";

const LOCATIONS = ["path", "query", "header", "cookie", "body"] as const;
type Location = (typeof LOCATIONS)[number];

export interface InputField {
  /** JSON Pointer into the input, such as `/query/page`, or `/body` if the whole body is one field. */
  pointer: string;
  location: Location;
  /** Name of the parameter or body member. Undefined if the whole body is one field. */
  name: string | undefined;
  schema: JsonSchema;
  isRequired: boolean;
  kind: "text" | "number" | "choice" | "json";
  /** The options of a choice field. */
  values: unknown[];
}

/** The entered text of each field, by pointer. */
export type FieldValues = Record<string, string>;

/** Returns the fields of an input: grouped by location, required ones first. */
export function toInputFields(input: JsonSchema, definitions: Definitions): InputField[] {
  const inputSchema = flatten(input, definitions);
  return LOCATIONS.flatMap((location) => {
    const schema = inputSchema.properties.get(location);
    if (schema === undefined) return [];
    const flat = flatten(schema, definitions);
    const isForm = flat.properties.size > 0 && flat.choices.length === 0;
    if (location === "body" && !isForm)
      return [toInputField(location, undefined, schema, inputSchema.required.has(location), definitions)];
    return [...flat.properties]
      .map(([name, property]) => toInputField(location, name, property, flat.required.has(name), definitions))
      .sort((a, b) => Number(b.isRequired) - Number(a.isRequired));
  });
}

function toInputField(
  location: Location,
  name: string | undefined,
  schema: JsonSchema,
  isRequired: boolean,
  definitions: Definitions,
): InputField {
  const escapedName = name?.replaceAll("~", "~0").replaceAll("/", "~1");
  const pointer = escapedName === undefined ? `/${location}` : `/${location}/${escapedName}`;
  const flat = flatten(schema, definitions);
  const types = listTypes(flat).filter((type) => type !== "null");
  const [type] = types;
  const withKind = (kind: InputField["kind"], values: unknown[] = []) => ({
    ...{ pointer, location, name, schema, isRequired, kind, values },
  });
  const values = allowedValues(flat)?.filter((value) => value !== null);
  if (values) return withKind("choice", values);
  if (types.length !== 1 || flat.choices.length > 0) return withKind("json");
  if (type === "boolean") return withKind("choice", [true, false]);
  if (type === "integer" || type === "number") return withKind("number");
  return withKind(type === "string" ? "text" : "json");
}

/** Builds the input from the entered texts. Reports empty required fields and invalid JSON by pointer. */
export function parseInput(
  entries: readonly InputField[],
  fieldValues: FieldValues,
): { input: ActionInput; faults: FieldValues } {
  const input: Record<string, unknown> = {};
  const faults: FieldValues = {};
  for (const { pointer, location, name, kind, values, isRequired } of entries) {
    const text = fieldValues[pointer] ?? "";
    if (text === "") {
      if (isRequired) faults[pointer] = "This is required.";
      continue;
    }
    let value: unknown = text;
    if (kind === "number") value = Number.isFinite(Number(text)) ? Number(text) : text;
    if (kind === "choice") value = values[Number(text)];
    if (kind === "json") {
      try {
        value = JSON.parse(text);
      } catch {
        faults[pointer] = "Must be JSON. Strings need quotation marks.";
        continue;
      }
    }
    if (name === undefined) input[location] = value;
    else (input[location] = (input[location] ?? {}) as Record<string, unknown>)[name] = value;
  }
  return { input, faults };
}
