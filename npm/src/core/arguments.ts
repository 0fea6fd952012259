// Validates arguments at run time: callers in JavaScript can pass values that the declared types exclude.
import { nearest } from "glue";
import { type ErrorDetails, type Fault, ValidationError } from "./errors.js";

// The service rejects longer bodies before it parses them, so only shorter ones are searched for lone surrogates.
const MAX_BODY_LENGTH = 64 << 10;

interface FaultDetails {
  suggestion?: string;
  cause?: unknown;
}

/** Collects the errors of all arguments, so that one exception reports all of them. */
export class Faults {
  #faults: Fault[] = [];
  #cause: unknown;

  /** Adds an error; `predicate` completes a sentence that begins with the argument's name. */
  add(parameter: string, predicate: string, { suggestion, cause }: FaultDetails = {}): void {
    this.#faults.push({ parameter, detail: `\`${parameter}\` ${predicate}`, ...(suggestion && { suggestion }) });
    this.#cause ??= cause;
  }

  throwIfAny(details: ErrorDetails = { code: "invalid_argument" }): void {
    const [first, ...more] = this.#faults;
    if (!first) return;
    const suffix = more.length > 0 ? ` (${more.length} more in \`errors\`)` : "";
    throw new ValidationError(first.detail + suffix, { ...details, errors: this.#faults, cause: this.#cause });
  }
}

export function rejectArgument(name: string, predicate: string, details?: FaultDetails): never {
  const faults = new Faults();
  faults.add(name, predicate, details);
  return faults.throwIfAny() as never;
}

/**
 * Whether `Object.entries` returns all members of a value. It would return none for a `Map`, for a promise that was not
 * awaited, or for an instance of a class with getters.
 */
function isPlainObject(value: unknown): value is object {
  if (Object.prototype.toString.call(value) !== "[object Object]") return false;
  for (
    let type = Object.getPrototypeOf(value);
    type && Object.getPrototypeOf(type);
    type = Object.getPrototypeOf(type)
  ) {
    if (Object.values(Object.getOwnPropertyDescriptors(type)).some(({ get }) => get)) return false;
  }
  return true;
}

/** Copies a plain object and its arrays, without undefined members. The copy has no prototype. */
export function copyMembers<T extends object>(value: T | undefined, name: string): Partial<T> {
  const members = Object.create(null);
  if (value === undefined) return members;
  try {
    if (!isPlainObject(value)) rejectArgument(name, "must be a plain object");
    for (const [member, content] of Object.entries(value)) {
      if (content !== undefined) members[member] = Array.isArray(content) ? Array.from(content) : content;
    }
  } catch (cause) {
    if (cause instanceof ValidationError) throw cause;
    rejectArgument(name, "can't be read", { cause });
  }
  return members;
}

/** Copies a plain object, and reports members that are not in `known` to `faults`. */
export function knownMembers<T extends object>(
  value: T | undefined,
  name: string,
  known: readonly (keyof T & string)[],
  faults: Faults,
): Partial<T> {
  const members = copyMembers(value, name);
  for (const member of Object.keys(members).filter((member) => !known.includes(member as keyof T & string))) {
    const suggestion = nearest(member, known.join());
    const hint = suggestion && `; did you mean \`${suggestion}\`?`;
    faults.add(member, `is not a member of \`${name}\`${hint}`, { suggestion });
  }
  return members;
}

export function stringArgument(value: unknown, name: string): string {
  if (typeof value !== "string" || !isWellFormed(value)) rejectArgument(name, "must be a string");
  return value;
}

/** Returns an error message unless the value is an integer in the range. */
export function integerError(value: unknown, min: number, max: number): string | undefined {
  return Number.isInteger(value) && (value as number) >= min && (value as number) <= max
    ? undefined
    : `must be a whole number from ${min} to ${max}`;
}

/**
 * Encodes filters as a query string. Those named in `lists` may be arrays. The WebAssembly module validates the values.
 */
export function queryString(filters: object, lists: readonly string[]): string {
  const faults = new Faults();
  const pairs: string[] = [];
  for (const [name, value] of Object.entries(filters)) {
    const predicate = encodingError(value, lists.includes(name));
    if (predicate) faults.add(name, predicate);
    else pairs.push(`${encodeURIComponent(replaceLoneSurrogates(name))}=${encodeURIComponent(toFilterString(value))}`);
  }
  faults.throwIfAny({ status: 400, code: "invalid_parameter" });
  return pairs.join("&");
}

/** Returns an error message if a filter can't be encoded in a query string. */
function encodingError(value: unknown, allowsList: boolean): string | undefined {
  if (value === null || ["number", "boolean", "bigint"].includes(typeof value)) return undefined;
  if (typeof value === "string") return isWellFormed(value) ? undefined : "is not well-formed text";
  if (!Array.isArray(value)) return "must be a string, a number, true or false";
  if (!allowsList) return "must be one value, not an array";
  if (value.some((item) => typeof item !== "string" || !isWellFormed(item))) return "must be an array of strings";
  if (value.some((item) => item.includes(","))) return "has an item with a comma, which separates items";
  return undefined;
}

/** Whether a string has no lone surrogate, which UTF-8 can't encode. */
function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}

/** Replaces lone surrogates, if the runtime supports it. */
function replaceLoneSurrogates(text: string & { toWellFormed?(): string }): string {
  return text.toWellFormed?.() ?? text;
}

/** Null becomes an empty string, which the validation rejects: a filter must never be dropped silently. */
function toFilterString(value: unknown): string {
  if (!Array.isArray(value)) return String(value ?? "");
  // A comma distinguishes an array with one empty string from an empty array.
  return value.length === 1 && value[0] === "" ? "," : value.join(",");
}

/** Serializes a body. Also returns the parsed JSON, in which undefined members are missing and dates are strings. */
export function serializeBody(value: unknown, name: string): [json: string, parsed: unknown] {
  // Without `toJSON`, such an object would be serialized as an empty body.
  if (
    value !== null &&
    typeof value === "object" &&
    !Array.isArray(value) &&
    !isPlainObject(value) &&
    typeof (value as { toJSON?: unknown }).toJSON !== "function"
  ) {
    rejectArgument(name, "must be a plain object");
  }
  let json: string | undefined;
  try {
    json = JSON.stringify(value);
  } catch (cause) {
    rejectArgument(name, "can't be serialized as JSON", { cause });
  }
  if (json === undefined) rejectArgument(name, "must be an object");
  const column = json.length <= MAX_BODY_LENGTH ? loneSurrogateColumn(json) : undefined;
  if (column !== undefined) {
    const detail = `The body is not valid JSON, or nested too deeply: line 1, column ${column}.`;
    throw new ValidationError(detail, { status: 400, code: "invalid_body", errors: [{ pointer: "", detail }] });
  }
  return [json, JSON.parse(json)];
}

/** The column at which the service's JSON parser rejects an escaped lone surrogate, or undefined. */
function loneSurrogateColumn(json: string): number | undefined {
  for (const { 1: surrogate, index } of json.matchAll(/\\(?:u(d[89a-f]..)|.)/g)) {
    if (surrogate === undefined) continue;
    const end = index + 6;
    // After a high surrogate, the parser reads one character, two characters or a whole escape before it fails.
    const isHigh = /^d[89ab]/.test(surrogate);
    const parsedLength = !isHigh ? 0 : json[end] !== "\\" ? 1 : json[end + 1] !== "u" ? 2 : 6;
    return new TextEncoder().encode(json.slice(0, end)).length + parsedLength;
  }
  return undefined;
}
