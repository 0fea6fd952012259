// What callers pass, read without trust.
import { badArgument, ValidationError } from "./errors.js";

/** The members of a plain object that are not undefined, of which each name must be `known`; any name when none is. */
export function membersOf(value, name, known) {
  if (value === undefined) return {};
  if (value === null || typeof value !== "object" || Array.isArray(value)) throw badArgument(name, "must be an object");
  const members = Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined));
  const unknown = known && Object.keys(members).find((member) => !known.includes(member));
  if (unknown !== undefined) throw badArgument(unknown, `is not a member of \`${name}\`, which takes ${known.join(", ")}`);
  return members;
}

export function text(value, name) {
  if (typeof value !== "string") throw badArgument(name, "must be a string");
  return value;
}

export function wholeNumber(value, name, least, most) {
  if (!Number.isInteger(value) || value < least || value > most) throw badArgument(name, `must be a whole number from ${least} to ${most}`);
  return value;
}

/** The query of filters. Those named in `lists` may be arrays. What filters mean is for the service's own code to say. */
export function queryOf(filters, lists = []) {
  const faults = [];
  const pairs = [];
  for (const [name, value] of Object.entries(membersOf(filters, "filters"))) {
    const what = unwritable(value, lists.includes(name));
    if (what) faults.push({ parameter: name, detail: `\`${name}\` ${what}` });
    else pairs.push(`${encodeURIComponent(name)}=${encodeURIComponent(written(value))}`);
  }
  if (faults.length > 0) {
    const more = faults.length > 1 ? ` (${faults.length - 1} more in \`errors\`)` : "";
    throw new ValidationError(faults[0].detail + more, { status: 400, code: "invalid_parameter", errors: faults });
  }
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
  let json;
  try {
    json = JSON.stringify(value);
  } catch (cause) {
    throw badArgument(name, "can't be written as JSON", { cause });
  }
  if (json === undefined) throw badArgument(name, "must be an object");
  return [json, JSON.parse(json)];
}

/** The entity tag of a connection, which follows from its id and version. */
export function entityTag(value) {
  const tag = typeof value?.id === "string" && /^\d+$/.test(value.version) ? `"${value.id}-${value.version}"` : value;
  // An empty one would be lost on its way, and the condition with it.
  if (typeof tag !== "string" || !/^[!-~]([ -~]*[!-~])?$/.test(tag)) throw badArgument("ifMatch", "must be an entity tag, or a connection");
  return tag;
}

/** What every call takes; `known` names what this one takes. */
export function callOptions(options, known = ["signal"]) {
  const { signal, ifMatch } = membersOf(options, "options", known);
  // Whatever has the shape of one: a library's is good as well.
  if (signal !== undefined && (typeof signal?.aborted !== "boolean" || typeof signal.addEventListener !== "function")) {
    throw badArgument("signal", "must be an AbortSignal");
  }
  return { signal, ifMatch: ifMatch === undefined ? undefined : entityTag(ifMatch) };
}
