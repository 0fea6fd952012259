// Arguments as callers pass them. Programs in JavaScript pass anything, so nothing here trusts the declared types.
import { nearest } from "glue";
import { type ErrorDetails, type Fault, ValidationError } from "./errors.js";

// A longer body is refused by its length first, and no character has less than one byte.
const MAX_BODY = 64 << 10;

interface More {
  suggestion?: string;
  cause?: unknown;
}

/** Collects what is wrong with arguments, to report everything at once. */
export class Faults {
  #faults: Fault[] = [];
  #cause: unknown;

  /** Adds a fault; `what` completes a sentence that begins with the argument's name. */
  add(parameter: string, what: string, { suggestion, cause }: More = {}): void {
    this.#faults.push({ parameter, detail: `\`${parameter}\` ${what}`, ...(suggestion && { suggestion }) });
    this.#cause ??= cause;
  }

  /** Throws the collected faults, with these details. Does nothing if there are none. */
  throwIfAny(details: ErrorDetails = { code: "invalid_argument" }): void {
    const [first, ...more] = this.#faults;
    if (!first) return;
    const rest = more.length > 0 ? ` (${more.length} more in \`errors\`)` : "";
    throw new ValidationError(first.detail + rest, { ...details, errors: this.#faults, cause: this.#cause });
  }
}

/** Throws that an argument can't be used. */
export function rejectArgument(name: string, what: string, more?: More): never {
  const faults = new Faults();
  faults.add(name, what, more);
  return faults.throwIfAny() as never;
}

/**
 * Whether a value is an object whose members can be listed. A `Map`, a promise that nobody awaited, or an instance of a
 * class with getters would seem to have none.
 */
function isPlain(value: unknown): value is object {
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

/** Copies the members of a plain object that are not undefined, and the arrays among them. The copy inherits nothing. */
export function copyMembers<T extends object>(value: T | undefined, name: string): Partial<T> {
  const members = Object.create(null);
  if (value === undefined) return members;
  try {
    if (!isPlain(value)) rejectArgument(name, "must be a plain object");
    for (const [member, content] of Object.entries(value)) {
      if (content !== undefined) members[member] = Array.isArray(content) ? Array.from(content) : content;
    }
  } catch (cause) {
    if (cause instanceof ValidationError) throw cause;
    rejectArgument(name, "can't be read", { cause });
  }
  return members;
}

/** Copies the members of an object that may have only the known ones. Anything wrong is added to `faults`. */
export function knownMembers<T extends object>(
  value: T | undefined,
  name: string,
  known: readonly (keyof T & string)[],
  faults: Faults,
): Partial<T> {
  const members = copyMembers(value, name);
  for (const member of Object.keys(members).filter((member) => !known.includes(member as keyof T & string))) {
    const suggestion = nearest(member, known.join());
    const meant = suggestion && `; did you mean \`${suggestion}\`?`;
    faults.add(member, `is not a member of \`${name}\`${meant}`, { suggestion });
  }
  return members;
}

export function stringArgument(value: unknown, name: string): string {
  if (typeof value !== "string" || !isWellFormed(value)) rejectArgument(name, "must be a string");
  return value;
}

/** Why a value is not a whole number in a range; undefined if it is one. */
export function integerError(value: unknown, least: number, most: number): string | undefined {
  return Number.isInteger(value) && (value as number) >= least && (value as number) <= most
    ? undefined
    : `must be a whole number from ${least} to ${most}`;
}

/** The query for filters. Those named in `lists` may be arrays. The service's own code checks what the filters mean. */
export function queryString(filters: object, lists: readonly string[]): string {
  const faults = new Faults();
  const pairs: string[] = [];
  for (const [name, value] of Object.entries(filters)) {
    const what = unwritable(value, lists.includes(name));
    if (what) faults.add(name, what);
    else pairs.push(`${encodeURIComponent(wellFormed(name))}=${encodeURIComponent(written(value))}`);
  }
  faults.throwIfAny({ status: 400, code: "invalid_parameter" });
  return pairs.join("&");
}

/** Why a filter can't be written in a query; undefined if it can. */
function unwritable(value: unknown, mayBeList: boolean): string | undefined {
  if (value === null || ["number", "boolean", "bigint"].includes(typeof value)) return undefined;
  if (typeof value === "string") return isWellFormed(value) ? undefined : "is not well-formed text";
  if (!Array.isArray(value)) return "must be a string, a number, true or false";
  if (!mayBeList) return "must be one value, not an array";
  if (value.some((item) => typeof item !== "string" || !isWellFormed(item))) return "must be an array of strings";
  if (value.some((item) => item.includes(","))) return "has an item with a comma, which separates items";
  return undefined;
}

/** Whether a text has no half of a surrogate pair, which no encoding can write. */
function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}

/** The text without such halves, where the platform can replace them. */
function wellFormed(text: string & { toWellFormed?(): string }): string {
  return text.toWellFormed?.() ?? text;
}

/** The text of a filter. That of null is empty, which is refused: a filter must not silently be left out. */
function written(value: unknown): string {
  if (!Array.isArray(value)) return String(value ?? "");
  // An array of one empty text is not an empty array.
  return value.length === 1 && value[0] === "" ? "," : value.join(",");
}

/** The JSON of a body, and its value: without undefined members, with dates as texts. */
export function jsonBody(value: unknown, name: string): [json: string, parsed: unknown] {
  // An object whose members can't be listed would become an empty body, unless it says itself what its JSON is.
  if (
    value !== null &&
    typeof value === "object" &&
    !Array.isArray(value) &&
    !isPlain(value) &&
    typeof (value as { toJSON?: unknown }).toJSON !== "function"
  ) {
    rejectArgument(name, "must be a plain object");
  }
  let json: string | undefined;
  try {
    json = JSON.stringify(value);
  } catch (cause) {
    rejectArgument(name, "can't be written as JSON", { cause });
  }
  if (json === undefined) rejectArgument(name, "must be an object");
  const column = json.length <= MAX_BODY ? halfPair(json) : undefined;
  if (column !== undefined) {
    const detail = `The body is not valid JSON, or nested too deeply: line 1, column ${column}.`;
    throw new ValidationError(detail, { status: 400, code: "invalid_body", errors: [{ pointer: "", detail }] });
  }
  return [json, JSON.parse(json)];
}

/**
 * The column where the service's parser stops at half of a surrogate pair, which JSON has as an escape; undefined if there
 * is none.
 */
function halfPair(json: string): number | undefined {
  for (const { 1: half, index } of json.matchAll(/\\(?:u(d[89a-f]..)|.)/g)) {
    if (half === undefined) continue;
    const end = index + 6;
    // After a first half the parser looks for the second one: at one character, at two, or at a whole escape.
    const isFirst = /^d[89ab]/.test(half);
    const looked = !isFirst ? 0 : json[end] !== "\\" ? 1 : json[end + 1] !== "u" ? 2 : 6;
    return new TextEncoder().encode(json.slice(0, end)).length + looked;
  }
  return undefined;
}
