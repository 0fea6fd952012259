// Compares what the service says of inputs with what ajv says of them: random values that are meant to be valid, and these with
// one value left out or replaced.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { chance, spoilt } from "../actions-proof/random.mjs";

// How many random values an action's input is given, and how many times each is spoilt.
const [VALUES, SPOILT] = [2, 3];
// How deep made-up values are at most, and how long their texts.
const [DEEPEST, LONGEST] = [8, 200];

/** A number that follows from a text (FNV-1a). */
function seed(text) {
  let hash = 0x811c9dc5;
  for (const unit of text) hash = Math.imul(hash ^ unit.codePointAt(0), 0x01000193);
  return hash;
}

/**
 * A value that is likely to be valid by a schema; what it is does not matter, as long as it looks like an input. Libraries that
 * make up values take minutes for some patterns.
 */
function madeUp(schema, definitions, random, depth = 0) {
  const pick = (list) => list[Math.floor(random() * list.length)];
  const next = (inner) => madeUp(inner, definitions, random, depth + 1);
  if (typeof schema !== "object" || depth > DEEPEST) return "text";
  const { $ref, allOf, anyOf, properties = {}, required = [] } = schema;
  if ($ref) return next(definitions[$ref.slice("#/$defs/".length)]);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return pick(schema.enum);
  const parts = [...(allOf ?? []), ...(anyOf ? [pick(anyOf)] : [])].map(next);
  const type = [schema.type ?? (schema.properties ? "object" : schema.items ? "array" : undefined)].flat();
  switch (pick(type)) {
    case "object": {
      const isThere = ([name]) => required.includes(name) || (depth < DEEPEST / 2 && random() < 0.5);
      const own = Object.entries(properties).filter(isThere);
      return Object.assign({}, ...parts, Object.fromEntries(own.map(([name, inner]) => [name, next(inner)])));
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
      return "text".padEnd(Math.min(schema.minLength ?? 0, LONGEST), "x").slice(0, schema.maxLength);
    default:
      return parts[0] ?? pick(["text", 1, true, null, {}]);
  }
}

/** Values for an action's input, the same in every run. */
function values(name, input) {
  const random = chance(seed(name));
  const found = [];
  for (let nth = 0; nth < VALUES; nth += 1) {
    const value = madeUp(input, input.$defs, random);
    found.push(value);
    for (let time = 0; time < SPOILT; time += 1) found.push(spoilt(value, random));
  }
  return found.filter((value) => value !== undefined);
}

export class Verdicts {
  #child;
  #lines;

  /** @param {string} program the operator's command line, which checks inputs as the service does */
  constructor(program) {
    this.#child = spawn(program, ["check-inputs"], { stdio: ["pipe", "pipe", "inherit"] });
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  /** How many values were compared, how many of them ajv refuses, and those on which the service and ajv disagree. */
  async compare(name, input, validate) {
    const asked = values(name, input);
    this.#child.stdin.write(`${JSON.stringify({ schema: input, values: asked })}\n`);
    const { value: line, done } = await this.#lines.next();
    if (done) throw new Error(`\`check-inputs\` ended before ${name}`);
    const theirs = asked.map((value) => validate(value));
    const disagreed = JSON.parse(line).flatMap((faults, nth) =>
      (faults === 0) === theirs[nth] ? [] : [{ value: asked[nth], isTaken: faults === 0 }],
    );
    return { compared: asked.length, invalid: theirs.filter((isValid) => !isValid).length, disagreed };
  }

  end() {
    this.#child.stdin.end();
  }
}
