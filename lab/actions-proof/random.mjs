// Random inputs of an action, valid ones and others, the same in every run.
import jsf from "json-schema-faker";

// Bytes are given in base64.
jsf.format("binary", () => "aGk=");

/** Numbers from 0 to 1 that look random (mulberry32). */
export function chance(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let number = Math.imul(state ^ (state >>> 15), 1 | state);
    number = (number + Math.imul(number ^ (number >>> 7), 61 | number)) ^ number;
    return ((number ^ (number >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A value that a schema is meant to take; undefined when none can be made up. */
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

/** Every way to a value within another one. */
function ways(value, way = []) {
  const own = isObject(value) ? Object.keys(value) : Array.isArray(value) ? [...value.keys()] : [];
  return [...(way.length > 1 ? [way] : []), ...own.flatMap((name) => ways(value[name], [...way, name]))];
}

const OTHERS = ["no such word", -1.5, true, [], {}, [[]], { strange: { value: 1 } }];

/** The input with one value left out or replaced by another one; undefined when it has none. */
export function spoilt(input, random) {
  const pick = (list) => list[Math.floor(random() * list.length)];
  // Without a part of its path there is no request.
  const way = pick(ways(input).filter(([place]) => place !== "path"));
  if (!way) return undefined;
  const copy = structuredClone(input);
  const holder = way.slice(0, -1).reduce((value, name) => value[name], copy);
  const name = way.at(-1);
  if (random() < 0.5) holder[name] = pick(OTHERS);
  else if (Array.isArray(holder)) holder.splice(name, 1);
  else delete holder[name];
  return copy;
}
