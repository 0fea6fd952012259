// Generates parts of the Python package in python/: its models and the missing methods of its asynchronous client from the OpenAPI
// document, and its synchronous client from the asynchronous one.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { installPythonPackages, pythonProgram } from "../setup/python.mjs";
import { root } from "./paths.mjs";
import { Problem } from "./problem.mjs";
import { complete } from "./python-calls.mjs";
import { run } from "./run.mjs";

const DOCUMENT = join(root, "www", "public", "v1", "openapi.json");
const PACKAGE = join(root, "python");
const SOURCES = join(PACKAGE, "src", "connector_vault");
const OUTPUT_FOLDER = join(root, "target", "python-package");
/** The Python environment with the tools that generate, check and test the package. */
const ENVIRONMENT = "package";

/** Installs the Python environment, and returns the path of one of its programs. */
export async function packageProgram(name) {
  await installPythonPackages(ENVIRONMENT, join("python", "requirements.txt"));
  return pythonProgram(ENVIRONMENT, name);
}

// Keywords that the models must not enforce, because a later release of the service may allow more.
const LIMITS = new Set([
  "minLength",
  "maxLength",
  "pattern",
  "minItems",
  "maxItems",
  "minimum",
  "maximum",
  "uniqueItems",
  "additionalProperties",
]);
const TEXT_FORMATS = new Set(["uuid", "uri"]);

const isNullable = ({ description, type, oneOf = [], anyOf = [], ...rest } = {}) =>
  [type].flat().includes("null") ||
  [...oneOf, ...anyOf].some((alternative) => alternative.type === "null") ||
  // An empty schema allows null.
  (type === undefined && oneOf.length + anyOf.length + Object.keys(rest).length === 0);

/**
 * Relaxes a schema for the models: removes limits, allows values that a later release adds, and makes nullable members optional,
 * because an earlier release may lack them.
 */
function relax(schema) {
  if (Array.isArray(schema)) return schema.map(relax);
  if (schema === null || typeof schema !== "object") return schema;
  const relaxedSchema = {};
  for (const [name, value] of Object.entries(schema)) {
    if (LIMITS.has(name) && (name !== "additionalProperties" || value === false)) continue;
    if (name === "format" && TEXT_FORMATS.has(value)) continue;
    // The keys of these objects are names, not keywords, even if one is spelled like a keyword.
    const isNamed = (name === "properties" || name === "schemas" || name === "$defs") && typeof value === "object";
    relaxedSchema[name] = isNamed
      ? Object.fromEntries(Object.entries(value).map(([key, member]) => [key, relax(member)]))
      : ["enum", "const", "default", "example", "examples", "required"].includes(name)
        ? value
        : relax(value);
  }
  if (Array.isArray(relaxedSchema.required))
    relaxedSchema.required = relaxedSchema.required.filter((name) => !isNullable(schema.properties?.[name]));
  if (relaxedSchema.enum?.every((value) => typeof value === "string")) {
    const { enum: values, description, ...rest } = relaxedSchema;
    return {
      ...(description && { description }),
      anyOf: [{ type: "string", enum: values, ...rest }, { type: "string" }],
    };
  }
  if (isNullable(relaxedSchema) && relaxedSchema.additionalProperties) {
    // The generator ignores the type of a nullable map's values.
    const { description, ...map } = relaxedSchema;
    return { ...(description && { description }), anyOf: [{ ...map, type: "object" }, { type: "null" }] };
  }
  return relaxedSchema;
}

const openapiDocument = () => JSON.parse(readFileSync(DOCUMENT, "utf8"));

/** The names of the schemas that a schema refers to, directly or indirectly. */
function reachableNames(schema, all, found = new Set()) {
  for (const [, name] of JSON.stringify(schema).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
    if (found.has(name)) continue;
    found.add(name);
    reachableNames(all[name], all, found);
  }
  return found;
}

const nameOf = ({ $ref }) => $ref.split("/").at(-1);

/**
 * The schemas of the models: those of responses, and named unions and extensible enums. Request bodies need no models, because
 * they are arguments of the client's methods.
 */
function schemas() {
  const { openapi, info, paths, components } = openapiDocument();
  const operations = Object.values(paths).flatMap((path) => Object.values(path));
  const allResponses = operations.flatMap(({ responses }) => Object.entries(responses ?? {}));
  const successes = allResponses.filter(([status]) => status.startsWith("2"));
  const names = reachableNames(successes, components.schemas);
  names.delete("Health");
  const modelSchemas = Object.entries(components.schemas).filter(([name]) => names.has(name));
  const relaxedSchemas = relax({ schemas: Object.fromEntries(modelSchemas) }).schemas;
  const aliases = {};
  for (const [name, schema] of modelSchemas) {
    if (schema.enum) {
      aliases[name] = `Literal[${schema.enum.map((value) => JSON.stringify(value)).join(", ")}] | str`;
    } else if (schema.oneOf?.every((alternative) => alternative.$ref)) {
      // A fallback variant for members that a later release adds to the union.
      const fallbackName = `${name}Other`;
      const isTagged = schema.oneOf.every(
        (alternative) => components.schemas[nameOf(alternative)].properties.type?.const,
      );
      relaxedSchemas[fallbackName] = {
        type: "object",
        description: `What a later release of the service adds to \`${name}\`: \`model_extra\` has its members.`,
        ...(isTagged && { required: ["type"], properties: { type: { type: "string" } } }),
      };
      const members = [...schema.oneOf, { $ref: `#/components/schemas/${fallbackName}` }];
      relaxedSchemas[name] = { anyOf: members };
      aliases[name] = members.map(nameOf).join(" | ");
      // Without references to a schema, the generator would write a class instead of an alias.
      if (!JSON.stringify(modelSchemas).includes(`"#/components/schemas/${name}"`)) delete relaxedSchemas[name];
    }
  }
  return { document: { openapi, info, paths: {}, components: { schemas: relaxedSchemas } }, aliases };
}

async function models() {
  const input = join(OUTPUT_FOLDER, "schemas.json");
  const output = join(OUTPUT_FOLDER, "models.py");
  const { document, aliases } = schemas();
  writeFileSync(input, JSON.stringify(document));
  await run(
    await packageProgram("datamodel-codegen"),
    [
      [
        "--input",
        input,
        "--input-file-type",
        "openapi",
        "--output",
        output,
        "--output-model-type",
        "pydantic_v2.BaseModel",
      ],
      ["--base-class", "connector_vault._model.Model", "--target-python-version", "3.10", "--formatters", "builtin"],
      ["--snake-case-field", "--enum-field-as-literal", "all", "--collapse-root-models", "--use-schema-description"],
      ["--use-field-description", "--use-standard-collections", "--use-union-operator", "--disable-timestamp"],
      ["--use-one-literal-as-default", "--output-datetime-class", "AwareDatetime"],
    ].flat(),
  );
  // `Any` already includes None, and `Any | None` would require checks.
  const text = readFileSync(output, "utf8").replaceAll(": Any | None = None", ": Any = None");
  const [first, ...rest] = text.split("from typing import ");
  const aliasLines = Object.entries(aliases).map(([name, type]) => `${name}: TypeAlias = ${type}\n`);
  const head = first.replace(
    /^(#.*\n)+/,
    `# Written by \`npm run python -- generate\` from the OpenAPI document of the service.\n`,
  );
  return `${head}from typing import TypeAlias, ${rest.join("from typing import ")}\n\n${aliasLines.join("")}`;
}

// The replacements that turn the asynchronous client into the synchronous one.
const SYNC_REPLACEMENTS = [
  [
    /"""The asynchronous client\. .*"""/,
    '"""The synchronous client: written by `npm run python -- generate` from `_async.py`."""',
  ],
  [
    /"""The tools of agents, .*"""/,
    '"""The same tools, synchronously: written by `npm run python -- generate` from `_async_tools.py`."""',
  ],
  [/\b_async\b(?!\.py)/g, "_sync"],
  [/import asyncio\n/, ""],
  [/import time\n/, "import threading\nimport time\n"],
  [/asyncio\.sleep/g, "time.sleep"],
  [/asyncio\.Lock/g, "threading.Lock"],
  [
    /AsyncGenerator, AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable/,
    "Callable, Generator, Iterable, Iterator",
  ],
  [/AsyncGenerator\[([\w.]+), None\]/g, "Generator[$1, None, None]"],
  [/Awaitable\[((?:[^[\]]|\[[^\]]*\])*)\]/g, "$1"],
  [/httpx\.AsyncClient/g, "httpx.Client"],
  [/asynccontextmanager/g, "contextmanager"],
  [/\ba(close|read)\(/g, "$1("],
  [/__a(iter|enter|exit)__/g, "__$1__"],
  [/\basync (def|for|with)\b/g, "$1"],
  [/\bawait /g, ""],
  [/\bAsync([A-Z]\w+)/g, "$1"],
];

const source = (name) => readFileSync(join(SOURCES, name), "utf8");
const completedClient = () => complete(source("_async.py"), openapiDocument());
const synchronous = (text) => SYNC_REPLACEMENTS.reduce((text, [from, to]) => text.replace(from, to), text);

const GENERATED = {
  "models.py": models,
  "_async.py": completedClient,
  "_sync.py": () => synchronous(completedClient()),
  "_sync_tools.py": () => synchronous(source("_async_tools.py")),
};

/** All generated files: [path, content]. */
async function contents() {
  mkdirSync(OUTPUT_FOLDER, { recursive: true });
  return Promise.all(Object.entries(GENERATED).map(async ([name, create]) => [join(SOURCES, name), await create()]));
}

/** Generates all files, and writes them into the package. */
export async function generate() {
  for (const [path, content] of await contents()) writeFileSync(path, content);
}

/** Fails if a generated file is stale. */
export async function checkGenerated() {
  for (const [path, content] of await contents()) {
    let current = "";
    try {
      current = readFileSync(path, "utf8");
    } catch (error) {
      if (error.code !== "ENOENT") throw error;
    }
    if (current !== content) throw new Problem(`${path} is stale.`, { hint: "Run `npm run python -- generate`." });
  }
}
