// What callers pass, read without trust.
import { nearest } from "glue";
import { ValidationError } from "./errors.js";

// Most bytes of a body; a character has one at least.
const MAX_BODY = 64 << 10;

/** Collects what is wrong with arguments, so that all of it is told at once. */
export class Faults {
  #faults = [];
  #cause;

  /** Notes a fault; `what` completes a sentence that begins with the argument's name. */
  add(parameter, what, { suggestion, cause } = {}) {
    this.#faults.push({ parameter, detail: `\`${parameter}\` ${what}`, ...(suggestion && { suggestion }) });
    this.#cause ??= cause;
  }

  /** Throws the faults that were noted, as `facts` say; does nothing when there are none. */
  end(facts = { code: "invalid_argument" }) {
    const [first, ...more] = this.#faults;
    if (!first) return;
    const rest = more.length > 0 ? ` (${more.length} more in \`errors\`)` : "";
    throw new ValidationError(first.detail + rest, { ...facts, errors: this.#faults, cause: this.#cause });
  }
}

/** An argument that can't be used. */
export function refuse(name, what, more) {
  const faults = new Faults();
  faults.add(name, what, more);
  faults.end();
}

/**
 * Whether a value is an object of members. A `Map`, a promise that nobody awaits, or an instance of a class with getters
 * would look as if it had none.
 */
function isPlain(value) {
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

/** A copy of a plain object's members that are not undefined, and of the arrays among them; it inherits nothing. */
export function copyOf(value, name) {
  const members = Object.create(null);
  if (value === undefined) return members;
  try {
    if (!isPlain(value)) refuse(name, "must be a plain object");
    for (const [member, content] of Object.entries(value)) {
      if (content !== undefined) members[member] = Array.isArray(content) ? Array.from(content) : content;
    }
  } catch (cause) {
    if (cause instanceof ValidationError) throw cause;
    refuse(name, "can't be read", { cause });
  }
  return members;
}

/** The members of an object that takes these names only; what is wrong goes to `faults`. */
export function membersOf(value, name, known, faults) {
  const members = copyOf(value, name);
  for (const member of Object.keys(members).filter((member) => !known.includes(member))) {
    const suggestion = nearest(member, known.join());
    const meant = suggestion && `; did you mean \`${suggestion}\`?`;
    faults.add(member, `is not a member of \`${name}\`${meant}`, { suggestion });
  }
  return members;
}

export function text(value, name) {
  if (typeof value !== "string" || !isWellFormed(value)) refuse(name, "must be a string");
  return value;
}

/** What is wrong with what should be a whole number; undefined when nothing is. */
export function notWhole(value, least, most) {
  return Number.isInteger(value) && value >= least && value <= most
    ? undefined
    : `must be a whole number from ${least} to ${most}`;
}

/**
 * The query of filters, which are a copy. Those named in `lists` may be arrays. What filters mean is for the service's own
 * code to say.
 */
export function queryOf(filters, lists) {
  const faults = new Faults();
  const pairs = [];
  for (const [name, value] of Object.entries(filters)) {
    const what = unwritable(value, lists.includes(name));
    if (what) faults.add(name, what);
    else pairs.push(`${encodeURIComponent(name.toWellFormed?.() ?? name)}=${encodeURIComponent(written(value))}`);
  }
  faults.end({ status: 400, code: "invalid_parameter" });
  return pairs.join("&");
}

/** Why a filter can't be written in a query; undefined when it can. */
function unwritable(value, mayBeList) {
  if (value === null || ["number", "boolean", "bigint"].includes(typeof value)) return undefined;
  if (typeof value === "string") return isWellFormed(value) ? undefined : "is not well-formed text";
  if (!Array.isArray(value)) return "must be a string, a number, true or false";
  if (!mayBeList) return "must be one value, not an array";
  if (value.some((item) => typeof item !== "string" || !isWellFormed(item))) return "must be an array of strings";
  if (value.some((item) => item.includes(","))) return "has an item with a comma, which parts items from each other";
  return undefined;
}

/** Whether a text has no half of a surrogate pair, for which no encoding has a place. */
function isWellFormed(text) {
  return !/\p{Surrogate}/u.test(text);
}

/** A filter's text. Null has an empty one, which is refused: a filter that somebody wanted must not silently be none. */
function written(value) {
  if (!Array.isArray(value)) return String(value ?? "");
  // An array of one empty text is not an empty array.
  return value.length === 1 && value[0] === "" ? "," : value.join(",");
}

/** The JSON of a body, and what it means: without undefined members, dates as texts. */
export function jsonOf(value, name) {
  // What has no members to be read is no empty body, unless it says what its JSON is.
  if (
    value !== null &&
    typeof value === "object" &&
    !Array.isArray(value) &&
    !isPlain(value) &&
    typeof value.toJSON !== "function"
  ) {
    refuse(name, "must be a plain object");
  }
  let json;
  try {
    json = JSON.stringify(value);
  } catch (cause) {
    refuse(name, "can't be written as JSON", { cause });
  }
  if (json === undefined) refuse(name, "must be an object");
  // Whether it is too large is looked at first.
  const column = json.length <= MAX_BODY ? halfPair(json) : undefined;
  if (column !== undefined) {
    const detail = `The body is not valid JSON, or nested too deeply: line 1, column ${column}.`;
    throw new ValidationError(detail, { status: 400, code: "invalid_body", errors: [{ pointer: "", detail }] });
  }
  return [json, JSON.parse(json)];
}

/**
 * The column where the service's parser stops at half of a surrogate pair, which is in JSON as an escape; undefined when
 * there is none.
 */
function halfPair(json) {
  for (const { 1: half, index } of json.matchAll(/\\(?:u(d[89a-f]..)|.)/g)) {
    if (half === undefined) continue;
    const end = index + 6;
    // After a first half it looks for the second one: at one character, at two, or at a whole escape.
    const isFirst = /^d[89ab]/.test(half);
    const looked = !isFirst ? 0 : json[end] !== "\\" ? 1 : json[end + 1] !== "u" ? 2 : 6;
    return new TextEncoder().encode(json.slice(0, end)).length + looked;
  }
  return undefined;
}

// `*`, or entity tags with commas between them (RFC 9110): the service refuses anything else.
const CONDITION = /^(\*|(W\/)?"[!#-~]*"( *, *(W\/)?"[!#-~]*")*)$/;

/** What `If-Match` says for a connection, whose entity tag follows from its id and version; undefined for what is none. */
function entityTag(value) {
  const tag = typeof value?.id === "string" && /^\d+$/.test(value.version) ? `"${value.id}-${value.version}"` : value;
  return typeof tag === "string" && CONDITION.test(tag) ? tag : undefined;
}

/** What a call takes; `known` names it. */
export function callOptions(options, known = ["signal"]) {
  const faults = new Faults();
  const { signal, ifMatch } = membersOf(options, "options", known, faults);
  // Whatever has the shape of one: a library's is good as well.
  const isSignal =
    typeof signal?.aborted === "boolean" &&
    ["addEventListener", "removeEventListener"].every((name) => typeof signal[name] === "function");
  if (signal !== undefined && !isSignal) faults.add("signal", "must be an AbortSignal");
  const tag = ifMatch === undefined ? undefined : entityTag(ifMatch);
  if (ifMatch !== undefined && tag === undefined)
    faults.add("ifMatch", "must be an entity tag in double quotes, `*`, or a connection");
  faults.end();
  return { signal, ifMatch: tag };
}
