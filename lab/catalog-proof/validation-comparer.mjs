// Compares the validation of the service with that of ajv: random values that should be valid, and copies of them with one value
// removed or replaced.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { randomGenerator, corrupted } from "../actions-proof/random.mjs";

// The number of random values per action, and of corrupted copies of each.
const [VALUES, CORRUPTED] = [2, 3];
// The maximum depth of generated values, and the maximum length of their strings.
const [MAX_DEPTH, MAX_LENGTH] = [8, 200];

/** Hashes a string to a number (FNV-1a). */
function seed(text) {
  let hash = 0x811c9dc5;
  for (const unit of text) hash = Math.imul(hash ^ unit.codePointAt(0), 0x01000193);
  return hash;
}

/**
 * Generates a random value that is likely to be valid for a schema. Libraries for this need minutes for some patterns.
 */
function generate(schema, definitions, random, depth = 0) {
  const pick = (list) => list[Math.floor(random() * list.length)];
  const next = (inner) => generate(inner, definitions, random, depth + 1);
  if (typeof schema !== "object" || depth > MAX_DEPTH) return "text";
  const { $ref, allOf, anyOf, properties = {}, required = [] } = schema;
  if ($ref) return next(definitions[$ref.slice("#/$defs/".length)]);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return pick(schema.enum);
  const parts = [...(allOf ?? []), ...(anyOf ? [pick(anyOf)] : [])].map(next);
  const type = [schema.type ?? (schema.properties ? "object" : schema.items ? "array" : undefined)].flat();
  switch (pick(type)) {
    case "object": {
      const isIncluded = ([name]) => required.includes(name) || (depth < MAX_DEPTH / 2 && random() < 0.5);
      const present = Object.entries(properties).filter(isIncluded);
      return Object.assign({}, ...parts, Object.fromEntries(present.map(([name, inner]) => [name, next(inner)])));
    }
    case "array":
      return Array.from({ length: schema.minItems ?? Math.floor(random() * 3) }, () => next(schema.items ?? true));
    case "integer":
    case "number":
      return schema.minimum ?? Math.min(1, schema.maximum ?? 1);
    case "boolean":
      return random() < 0.5;
    case "null":
      return null;
    case "string":
      return "text".padEnd(Math.min(schema.minLength ?? 0, MAX_LENGTH), "x").slice(0, schema.maxLength);
    default:
      return parts[0] ?? pick(["text", 1, true, null, {}]);
  }
}

/** Deterministic values for an action's input. */
function values(name, input) {
  const random = randomGenerator(seed(name));
  const found = [];
  for (let index = 0; index < VALUES; index += 1) {
    const value = generate(input, input.$defs, random);
    found.push(value);
    for (let time = 0; time < CORRUPTED; time += 1) found.push(corrupted(value, random));
  }
  return found.filter((value) => value !== undefined);
}

export class ValidationComparer {
  #child;
  #lines;

  /** @param {string} program the operator's command line, which validates inputs as the service does */
  constructor(program) {
    this.#child = spawn(program, ["check-inputs"], { stdio: ["pipe", "pipe", "inherit"] });
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  /** Returns how many values were compared, how many of them ajv rejects, and those on which the service and ajv disagree. */
  async compare(name, input, validate) {
    const requested = values(name, input);
    this.#child.stdin.write(`${JSON.stringify({ schema: input, values: requested })}\n`);
    const { value: line, done } = await this.#lines.next();
    if (done) throw new Error(`\`check-inputs\` exited before ${name}`);
    const theirs = requested.map((value) => validate(value));
    const disagreements = JSON.parse(line).flatMap((faults, index) =>
      (faults === 0) === theirs[index] ? [] : [{ value: requested[index], isTaken: faults === 0 }],
    );
    return {
      compared: requested.length,
      invalid: theirs.filter((isValid) => !isValid).length,
      disagreed: disagreements,
    };
  }

  end() {
    this.#child.stdin.end();
  }
}
