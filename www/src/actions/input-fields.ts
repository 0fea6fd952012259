// The input of an action as fields to fill in: a line for a text or a number, a list for a choice, JSON for all else.
import type { ActionInput, JsonSchema } from "connector-vault/slim";
import { type Definitions, flatten, typesOf, allowedValues, formatValue } from "./schema";

const LOCATIONS = ["path", "query", "header", "cookie", "body"] as const;
type Location = (typeof LOCATIONS)[number];

/** Something to fill in. */
export interface InputField {
  /** Where it stands in the input: `/query/page`, or `/body` for a body in one piece. */
  pointer: string;
  place: Location;
  /** The name of the parameter, or of the body's member; undefined for a body in one piece. */
  name: string | undefined;
  schema: JsonSchema;
  isRequired: boolean;
  kind: "text" | "number" | "choice" | "json";
  /** The values of a choice. */
  values: unknown[];
}

/** What has been filled in, by pointer. */
export type FieldValues = Record<string, string>;

/** What there is to fill in, place by place, what is required first. */
export function inputFieldsOf(input: JsonSchema, definitions: Definitions): InputField[] {
  const whole = flatten(input, definitions);
  return LOCATIONS.flatMap((place) => {
    const schema = whole.properties.get(place);
    if (schema === undefined) return [];
    const flat = flatten(schema, definitions);
    const isForm = flat.properties.size > 0 && flat.choices.length === 0;
    if (place === "body" && !isForm)
      return [inputFieldOf(place, undefined, schema, whole.required.has(place), definitions)];
    return [...flat.properties]
      .map(([name, property]) => inputFieldOf(place, name, property, flat.required.has(name), definitions))
      .sort((a, b) => Number(b.isRequired) - Number(a.isRequired));
  });
}

function inputFieldOf(
  place: Location,
  name: string | undefined,
  schema: JsonSchema,
  isRequired: boolean,
  definitions: Definitions,
): InputField {
  const escaped = name?.replaceAll("~", "~0").replaceAll("/", "~1");
  const pointer = escaped === undefined ? `/${place}` : `/${place}/${escaped}`;
  const flat = flatten(schema, definitions);
  const types = typesOf(flat).filter((type) => type !== "null");
  const [type] = types;
  const of = (kind: InputField["kind"], values: unknown[] = []) => ({
    ...{ pointer, place, name, schema, isRequired, kind, values },
  });
  const values = allowedValues(flat)?.filter((value) => value !== null);
  if (values) return of("choice", values);
  if (types.length !== 1 || flat.choices.length > 0) return of("json");
  if (type === "boolean") return of("choice", [true, false]);
  if (type === "integer" || type === "number") return of("number");
  return of(type === "string" ? "text" : "json");
}

/** The word for a value of a choice. */
export const wordOf = (value: unknown) => formatValue(value);

/** The input that was filled in, and what is no JSON, by pointer. What is empty is left out. */
export function parseInput(
  entries: readonly InputField[],
  filled: FieldValues,
): { input: ActionInput; faults: FieldValues } {
  const input: Record<string, unknown> = {};
  const faults: FieldValues = {};
  for (const { pointer, place, name, kind, values, isRequired } of entries) {
    const text = filled[pointer] ?? "";
    // What holds something required is there, so that what is missing is told of each field.
    if (name !== undefined && isRequired) input[place] ??= {};
    if (text === "") continue;
    let value: unknown = text;
    if (kind === "number") value = Number.isFinite(Number(text)) ? Number(text) : text;
    if (kind === "choice") value = values[Number(text)];
    if (kind === "json") {
      try {
        value = JSON.parse(text);
      } catch {
        faults[pointer] = "Must be JSON: texts need quotation marks.";
        continue;
      }
    }
    if (name === undefined) input[place] = value;
    else (input[place] = (input[place] ?? {}) as Record<string, unknown>)[name] = value;
  }
  return { input, faults };
}
