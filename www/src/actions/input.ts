// The input of an action as fields to fill in: a line for a text or a number, a list for a choice, JSON for all else.
import type { ActionInput, JsonSchema } from "connector-vault/slim";
import { type Definitions, flatten, typesOf, valuesOf, written } from "./schema";

const PLACES = ["path", "query", "header", "cookie", "body"] as const;
type Place = (typeof PLACES)[number];

/** Something to fill in. */
export interface Entry {
  /** Where it stands in the input: `/query/page`, or `/body` for a body in one piece. */
  pointer: string;
  place: Place;
  /** The name of the parameter, or of the body's member; undefined for a body in one piece. */
  name: string | undefined;
  schema: JsonSchema;
  isRequired: boolean;
  kind: "text" | "number" | "choice" | "json";
  /** The values of a choice. */
  values: unknown[];
}

/** What has been filled in, by pointer. */
export type Filled = Record<string, string>;

/** What there is to fill in, place by place, what is required first. */
export function entriesOf(input: JsonSchema, definitions: Definitions): Entry[] {
  const whole = flatten(input, definitions);
  return PLACES.flatMap((place) => {
    const schema = whole.properties.get(place);
    if (schema === undefined) return [];
    const flat = flatten(schema, definitions);
    const isForm = flat.properties.size > 0 && flat.choices.length === 0;
    if (place === "body" && !isForm) return [entry(place, undefined, schema, whole.required.has(place), definitions)];
    return [...flat.properties]
      .map(([name, property]) => entry(place, name, property, flat.required.has(name), definitions))
      .sort((a, b) => Number(b.isRequired) - Number(a.isRequired));
  });
}

function entry(
  place: Place,
  name: string | undefined,
  schema: JsonSchema,
  isRequired: boolean,
  definitions: Definitions,
): Entry {
  const escaped = name?.replaceAll("~", "~0").replaceAll("/", "~1");
  const pointer = escaped === undefined ? `/${place}` : `/${place}/${escaped}`;
  const flat = flatten(schema, definitions);
  const types = typesOf(flat).filter((type) => type !== "null");
  const [type] = types;
  const of = (kind: Entry["kind"], values: unknown[] = []) => ({
    ...{ pointer, place, name, schema, isRequired, kind, values },
  });
  const values = valuesOf(flat)?.filter((value) => value !== null);
  if (values) return of("choice", values);
  if (types.length !== 1 || flat.choices.length > 0) return of("json");
  if (type === "boolean") return of("choice", [true, false]);
  if (type === "integer" || type === "number") return of("number");
  return of(type === "string" ? "text" : "json");
}

/** The word for a value of a choice. */
export const wordOf = (value: unknown) => written(value);

/** The input that was filled in, and what is no JSON, by pointer. What is empty is left out. */
export function inputOf(entries: readonly Entry[], filled: Filled): { input: ActionInput; faults: Filled } {
  const input: Record<string, unknown> = {};
  const faults: Filled = {};
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
