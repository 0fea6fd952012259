// The API of the demo platform: the notes of two people.
import { randomBytes } from "node:crypto";

export const PEOPLE = {
  ada: { id: "ada", name: "Ada Example", email: "ada@demo-notes.example" },
  ben: { id: "ben", name: "Ben Example", email: "ben@demo-notes.example" },
};

const INITIAL_NOTES = {
  ada: [
    ["Welcome", "These notes are examples. Change them as you like."],
    ["Shopping list", "Bread, tea, apples"],
    ["Standup", "Yesterday: the connector. Today: its tests."],
    ["Books to read", "A field guide to lichens"],
    ["Trip to the coast", "Trains at 9:12 and 11:12"],
    ["Pancakes", "Two eggs, 200 ml of milk, 100 g of flour"],
    ["Meeting with Ben", "Agree on the scopes before Friday"],
    ["Garden", "Plant the tulips in November"],
    ["Questions for the review", "Who may revoke, and when does it take effect?"],
    ["Birthday of Ben", "A lamp for his desk"],
    ["Bicycle", "The rear brake needs a new cable"],
    ["Ideas", "A window that says whose account it connects"],
  ],
  ben: [
    ["Welcome", "These notes are examples. Change them as you like."],
    ["Meeting with Ada", "Bring the list of scopes"],
    ["Running", "5 km on Tuesday, 8 km on Saturday"],
  ],
};

const MAX_NOTES = 1000;
const PAGE_LIMITS = { default: 5, max: 50 };
/** The minimum time between two 429 responses, which `busy=1` requests. */
const MIN_BUSY_INTERVAL_MS = 10_000;
const MAX_LENGTHS = { title: 200, body: 10_000 };

/** A person's initial key. It can be public, because it gives access only to generated notes on this machine. */
const initialKey = (person) => `demo-notes-key-${person}`;

export class ApiError extends Error {
  constructor(status, code, message, headers = {}) {
    super(message);
    Object.assign(this, { status, code, headers });
  }
}

export function initialState(now) {
  const at = new Date(now).toISOString();
  const noteOf = ([title, body]) => ({ id: newId(), title, body, createdAt: at, updatedAt: at });
  const forEachPerson = (make) => Object.fromEntries(Object.keys(PEOPLE).map((person) => [person, make(person)]));
  return {
    notes: forEachPerson((person) => INITIAL_NOTES[person].map(noteOf)),
    keys: forEachPerson(initialKey),
    grants: [],
  };
}

function newId() {
  return randomBytes(6).toString("hex");
}

export function replaceKey(state, person) {
  state.keys[person] = `demo-notes-key-${randomBytes(16).toString("hex")}`;
}

function fieldsOf(text, required) {
  let body;
  try {
    body = JSON.parse(text);
  } catch {
    throw new ApiError(400, "invalid_json", "The body is not JSON.");
  }
  if (typeof body !== "object" || body === null || Array.isArray(body))
    throw new ApiError(400, "invalid_body", "The body must be an object.");
  const unknownMember = Object.keys(body).find((name) => !Object.hasOwn(MAX_LENGTHS, name));
  if (unknownMember !== undefined)
    throw new ApiError(400, "invalid_body", `A note has no member ${JSON.stringify(unknownMember)}.`);
  for (const name of required)
    if (body[name] === undefined) throw new ApiError(400, "invalid_body", `The member ${name} is missing.`);
  for (const [name, value] of Object.entries(body)) {
    const isValid =
      typeof value === "string" && value.length <= MAX_LENGTHS[name] && (name !== "title" || value.trim());
    if (!isValid) {
      const minLength = name === "title" ? 1 : 0;
      throw new ApiError(
        400,
        "invalid_body",
        `${name} must be a string of ${minLength} to ${MAX_LENGTHS[name]} characters.`,
      );
    }
  }
  return body;
}

/** A page of notes: `cursor` is the id of the last note of the previous page. */
function pageOf(notes, query, address) {
  const text = query.get("limit");
  const limit = text === null ? PAGE_LIMITS.default : Number(text);
  if (!/^\d+$/.test(text ?? "1") || limit < 1 || limit > PAGE_LIMITS.max)
    throw new ApiError(400, "invalid_query", `limit must be a number from 1 to ${PAGE_LIMITS.max}.`);
  const cursor = query.get("cursor");
  const lastIndex = cursor === null ? -1 : notes.findIndex(({ id }) => id === cursor);
  if (cursor !== null && lastIndex < 0)
    throw new ApiError(400, "invalid_query", "cursor is not one that a list has returned.");
  const rows = notes.slice(lastIndex + 1, lastIndex + 1 + limit);
  const next = lastIndex + 1 + limit < notes.length ? rows.at(-1).id : null;
  const page = { notes: rows, next };
  if (next === null) return [200, page];
  // RFC 8288: generic clients use this link to request the next page.
  const nextQuery = new URLSearchParams(query);
  nextQuery.set("cursor", next);
  return [200, page, { link: `<${address}?${nextQuery}>; rel="next"` }];
}

const noteNotFound = (note) => new ApiError(404, "not_found", `There is no note ${note}.`);

/** The endpoints: method, path, required scope, and handler. */
const ENDPOINTS = [
  ["GET", /^\/me$/, null, ({ person }) => [200, PEOPLE[person]]],
  ["GET", /^\/notes$/, "notes:read", ({ notes, query, address }) => pageOf(notes, query, address)],
  [
    "GET",
    /^\/notes\/search$/,
    "notes:read",
    ({ notes, query, address }) => {
      const words = (query.get("q") ?? "").toLowerCase().split(/\s+/).filter(Boolean);
      if (words.length === 0) throw new ApiError(400, "invalid_query", "q must contain a word.");
      const isFound = ({ title, body }) => words.every((word) => `${title}\n${body}`.toLowerCase().includes(word));
      return pageOf(notes.filter(isFound), query, address);
    },
  ],
  [
    "POST",
    /^\/notes$/,
    "notes:write",
    ({ notes, body, at }) => {
      const { title, body: text = "" } = fieldsOf(body, ["title"]);
      if (notes.length >= MAX_NOTES)
        throw new ApiError(409, "too_many_notes", `A person has at most ${MAX_NOTES} notes.`);
      const note = { id: newId(), title, body: text, createdAt: at, updatedAt: at };
      notes.unshift(note);
      return [201, note];
    },
  ],
  ["GET", /^\/notes\/([^/]+)$/, "notes:read", ({ notes, id }) => [200, notes[indexOf(notes, id)]]],
  [
    "PATCH",
    /^\/notes\/([^/]+)$/,
    "notes:write",
    ({ notes, id, body, at }) => {
      const note = notes[indexOf(notes, id)];
      return [200, Object.assign(note, fieldsOf(body, []), { updatedAt: at })];
    },
  ],
  [
    "DELETE",
    /^\/notes\/([^/]+)$/,
    "notes:write",
    ({ notes, id }) => {
      notes.splice(indexOf(notes, id), 1);
      return [204];
    },
  ],
];

function indexOf(notes, id) {
  const index = notes.findIndex((note) => note.id === id);
  if (index < 0) throw noteNotFound(id);
  return index;
}

/** The person and the scopes of the request's credentials. */
function authenticate({ headers, state, grants }) {
  const key = headers["x-api-key"];
  const token = headers.authorization?.match(/^Bearer +(\S+)$/i)?.[1];
  if (key !== undefined) {
    const person = Object.keys(state.keys).find((name) => state.keys[name] === key);
    if (person) return { person, scopes: ["notes:read", "notes:write"] };
    throw new ApiError(401, "invalid_key", "The API key is unknown or was replaced.");
  }
  const tokenHolder = token && grants.authenticate(token);
  if (tokenHolder) return tokenHolder;
  const message = token ? "The access token is expired, revoked or unknown." : "Send an access token or an API key.";
  const challenge = token ? 'Bearer realm="Demo Notes", error="invalid_token"' : 'Bearer realm="Demo Notes"';
  throw new ApiError(401, token ? "invalid_token" : "unauthorized", message, { "www-authenticate": challenge });
}

/** Responds with 429 to a request with `busy=1`, but not to its retry. */
function rejectOnce(busy, person, query, now) {
  if (query.get("busy") !== "1" || now - (busy.get(person) ?? -Infinity) < MIN_BUSY_INTERVAL_MS) return;
  busy.set(person, now);
  throw new ApiError(429, "too_many_requests", "Try again in a second.", { "retry-after": "1" });
}

/**
 * Handles a request to the API. Returns [status, body, headers].
 * @param {{ method: string, path: string, query: URLSearchParams, headers: object, body: string, state: object,
 *   grants: import("./oauth.mjs").Grants, now: number, address: string, busy: Map<string, number> }} request
 */
export function handleApi({ method, path, query, headers, body, state, grants, now, address, busy }) {
  const { person, scopes } = authenticate({ headers, state, grants });
  rejectOnce(busy, person, query, now);
  const matches = ENDPOINTS.filter(([, pattern]) => pattern.test(path));
  if (matches.length === 0) throw new ApiError(404, "not_found", `There is no ${path} here.`);
  const endpoint = matches.find(([allowed]) => allowed === method);
  if (!endpoint) {
    const allow = [...new Set(matches.map(([allowed]) => allowed))].join(", ");
    throw new ApiError(405, "method_not_allowed", `${path} takes ${allow}.`, { allow });
  }
  const [, pattern, scope, handler] = endpoint;
  if (scope && !scopes.includes(scope)) {
    const challenge = `Bearer realm="Demo Notes", error="insufficient_scope", scope="${scope}"`;
    throw new ApiError(403, "insufficient_scope", `This needs the scope ${scope}.`, { "www-authenticate": challenge });
  }
  const [, id] = path.match(pattern);
  return handler({ person, notes: state.notes[person], id, query, address, body, at: new Date(now).toISOString() });
}
