// Compares responses with documented ones. An ellipsis stands for anything: a value, the rest of an object or a list, or a part of a
// string. Everything else must match exactly, in the same order.
import assert from "node:assert/strict";

const ANY = "\u0000any";
const REST = "\u0000rest";

const escape = (text) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
const pattern = (text, any) => new RegExp(`^${text.split("…").map(escape).join(any)}$`, "u");

/** Parses documented JSON with ellipses. */
function parse(text) {
  const open = [];
  let out = "";
  let last = "";
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|…|[{}[\],:]|[^\s"…{}[\],:]+/gu)) {
    if (token === "{" || token === "[") open.push(token);
    if (token === "}" || token === "]") open.pop();
    const rest = open.at(-1) === "{" ? `"${JSON.stringify(REST).slice(1, -1)}":0` : JSON.stringify(REST);
    out += token === "…" ? (last === ":" ? JSON.stringify(ANY) : rest) : token;
    last = token;
  }
  return JSON.parse(out);
}

function compare(shown, found, path) {
  if (shown === ANY) return;
  if (typeof shown === "string") {
    assert.equal(typeof found, "string", path);
    assert.match(found, pattern(shown, "[^]*"), path);
  } else if (Array.isArray(shown)) {
    assert.ok(Array.isArray(found), path);
    const open = shown.at(-1) === REST;
    const items = open ? shown.slice(0, -1) : shown;
    assert.ok(open ? found.length >= items.length : found.length === items.length, `${path} has ${found.length} items`);
    items.forEach((item, at) => compare(item, found[at], `${path}/${at}`));
  } else if (shown !== null && typeof shown === "object") {
    assert.ok(found !== null && typeof found === "object" && !Array.isArray(found), path);
    const { [REST]: open, ...members } = shown;
    const names = Object.keys(members);
    const known = open === undefined ? Object.keys(found) : Object.keys(found).filter((name) => names.includes(name));
    assert.deepEqual(known, names, `the members of ${path || "the response"}`);
    for (const name of names) compare(members[name], found[name], `${path}/${name}`);
  } else {
    assert.equal(found, shown, path);
  }
}

/** Asserts that JSON matches documented JSON. */
export function expectMatchesExample(shown, text) {
  compare(parse(shown), JSON.parse(text), "");
}

/** Asserts that an HTTP response matches a documented one: the status line, the documented headers, the body. */
export function expectMatchesExampleResponse(shown, response) {
  const [shownHead, shownBody] = split(shown);
  const [head, body] = split(response);
  assert.equal(head[0], shownHead[0]);
  const headers = new Map(
    head
      .slice(1)
      .map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()]),
  );
  assert.ok(shownHead.length > 1, "no header is shown");
  for (const line of shownHead.slice(1)) {
    const [name, value] = [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()];
    assert.match(headers.get(name.toLowerCase()) ?? "", pattern(value, ".*"), name);
  }
  expectMatchesExample(shownBody, body);
}

function split(response) {
  const text = response.replaceAll("\r\n", "\n");
  const end = text.indexOf("\n\n");
  assert.notEqual(end, -1, `not an HTTP response: ${text.slice(0, 200)}`);
  return [text.slice(0, end).split("\n"), text.slice(end + 2)];
}

/** The body of a printed response, with or without headers. */
export const bodyOf = (response) => (response.startsWith("HTTP/") ? split(response)[1] : response);

/** Asserts that these lines were printed in order. A line with only an ellipsis stands for any lines. */
export function expectPrinted(shown, printed) {
  const lines = shown
    .trimEnd()
    .split("\n")
    .map((line) => (line === "…" ? "(?:.*\\n)*?" : `${line.split("…").map(escape).join(".*")}\\n`));
  assert.match(`${printed.trimEnd()}\n`, new RegExp(`(?:^|\\n)${lines.join("")}`, "u"));
}
