// Generates random inputs of an action, valid and invalid, deterministically.
import jsf from "json-schema-faker";

// Binary values are base64.
jsf.format("binary", () => "aGk=");

/** A pseudorandom number generator (mulberry32). */
export function randomGenerator(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let number = Math.imul(state ^ (state >>> 15), 1 | state);
    number = (number + Math.imul(number ^ (number >>> 7), 61 | number)) ^ number;
    return ((number ^ (number >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A random value for a schema; undefined if none can be generated. */
export function randomValue(schema, random) {
  jsf.option({
    random,
    optionalsProbability: 0.5,
    alwaysFakeOptionals: false,
    failOnInvalidTypes: false,
    failOnInvalidFormat: false,
    ignoreMissingRefs: true,
    refDepthMax: 3,
    maxItems: 2,
  });
  try {
    return jsf.generate(structuredClone(schema));
  } catch {
    return undefined;
  }
}

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** The paths of all members and items in a JSON value. */
function paths(value, prefix = []) {
  const keys = isObject(value) ? Object.keys(value) : Array.isArray(value) ? [...value.keys()] : [];
  return [...(prefix.length > 1 ? [prefix] : []), ...keys.flatMap((name) => paths(value[name], [...prefix, name]))];
}

const INVALID_VALUES = ["no such word", -1.5, true, [], {}, [[]], { strange: { value: 1 } }];

/** A copy of the input with one value removed or replaced; undefined if the input is empty. */
export function corrupted(input, random) {
  const pick = (list) => list[Math.floor(random() * list.length)];
  // Keeps path parameters, because the request can't be built without them.
  const path = pick(paths(input).filter(([place]) => place !== "path"));
  if (!path) return undefined;
  const copy = structuredClone(input);
  const holder = path.slice(0, -1).reduce((value, name) => value[name], copy);
  const name = path.at(-1);
  if (random() < 0.5) holder[name] = pick(INVALID_VALUES);
  else if (Array.isArray(holder)) holder.splice(name, 1);
  else delete holder[name];
  return copy;
}
