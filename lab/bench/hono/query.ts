// Query strings, validated with zod. Reports all errors.
import * as z from "zod";
import { nearest } from "./nearest";
import { type Fault, Problem } from "./problem";

const integer = (name: string, min: number, max: number) => {
  const error = `\`${name}\` must be a whole number from ${min} to ${max}`;
  return z
    .string()
    .regex(/^\d+$/, { error, abort: true })
    .transform(Number)
    .pipe(z.number({ error }).min(min, { error }).max(max, { error }));
};
const text = z.string().optional();
const boolean = (name: string) =>
  z
    .enum(["true", "false"], { error: `\`${name}\` must be \`true\` or \`false\`` })
    .transform((value) => value === "true");
const oneOf = (name: string, values: [string, ...string[]]) =>
  z.enum(values, { error: `\`${name}\` must be one of ${values.join(", ")}` }).optional();
const items = (name: string, max: number) =>
  z
    .string()
    .transform((value) => value.split(","))
    .pipe(
      z
        .array(z.string().min(1, `\`${name}\` contains an empty item`))
        .max(max, `\`${name}\` can have at most ${max} items`),
    )
    .optional();
const words = z
  .string()
  .refine(
    (value) => [...value].length <= 100 && /\S/.test(value),
    "`q` must have 1 to 100 characters and at least one that is not white space",
  )
  .optional();

const paging = { limit: integer("limit", 1, 500).default(20), page: integer("page", 1, 1_000_000_000).default(1) };

export const connectorQuery = z.object({
  platform: text,
  authkit: boolean("authkit").default(false),
  key: text,
  name: text,
  category: text,
  q: words,
  ...paging,
});
export const actionQuery = z.object({ title: text, key: text, method: text, q: words, ...paging });
export const connectionQuery = z.object({
  key: items("key", 100),
  platformVersion: text,
  name: text,
  identityType: oneOf("identityType", ["user", "team", "organization", "project"]),
  identity: text,
  platform: text,
  tags: items("tags", 20),
  tagsMatch: oneOf("tagsMatch", ["all", "any"]),
  q: z
    .string()
    .refine((value) => [...value].length <= 256, "`q` must have 1 to 256 characters")
    .optional(),
  active: boolean("active").default(true),
  ...paging,
});
export const noQuery = z.object({});

function decoded(raw: string): string | undefined {
  try {
    return decodeURIComponent(raw.replaceAll("+", " "));
  } catch {
    return undefined;
  }
}

export function readQuery<T extends z.ZodObject>(url: string, schema: T): z.infer<T> {
  const at = url.indexOf("?");
  const values: Record<string, string> = {};
  const faults: Fault[] = [];
  const known = Object.keys(schema.shape);
  const reported = new Set<string>();
  const note = (code: Fault["code"], parameter: string, detail: string, suggestion?: string) => {
    if (reported.has(`${code} ${parameter}`)) return;
    reported.add(`${code} ${parameter}`);
    faults.push({ code, parameter, detail, ...(suggestion && { suggestion }) });
  };
  for (const pair of at < 0 ? [] : url.slice(at + 1).split("&")) {
    if (pair === "") continue;
    const equals = pair.indexOf("=");
    const rawName = equals < 0 ? pair : pair.slice(0, equals);
    const rawValue = equals < 0 ? "" : pair.slice(equals + 1);
    const name = decoded(rawName) ?? rawName;
    const value = decoded(rawValue);
    if (!known.includes(name)) {
      const [suggestion] = nearest(name, known, 1);
      const hint = suggestion ? `; did you mean \`${suggestion}\`?` : "";
      note(
        "unknown_parameter",
        name,
        `\`${name.slice(0, 64)}\` is not a parameter of this endpoint${hint}`,
        suggestion,
      );
    } else if (Object.hasOwn(values, name)) {
      note("repeated_parameter", name, `\`${name}\` is given more than once`);
    } else {
      values[name] = value ?? "";
      if (value === undefined) note("invalid_parameter", name, `\`${name}\` is not valid percent-encoded UTF-8`);
      if (value === "") note("invalid_parameter", name, `\`${name}\` is empty: give it a value, or leave it out`);
    }
  }
  const nonEmpty = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ""));
  const result = schema.safeParse(nonEmpty);
  if (!result.success) {
    for (const issue of result.error.issues) note("invalid_parameter", String(issue.path[0]), issue.message);
  }
  if (faults.length > 0) throw Problem.of(faults as [Fault, ...Fault[]]);
  return result.data as z.infer<T>;
}
