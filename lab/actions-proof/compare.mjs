// Whether two requests are the same on the wire, but for what a client says of itself and of its connection.

/** Headers that are not of the action: of the connection, of the client, of who calls. */
const OF_A_CLIENT = new Set([
  ...["host", "connection", "content-length", "transfer-encoding", "user-agent", "accept", "accept-encoding"],
  ...["accept-language", "sec-fetch-mode", "authorization"],
  // What `fetch` adds to a request with a condition.
  ...["cache-control", "pragma"],
]);
const BOUNDARY = /^multipart\/form-data; ?boundary=(.*)$/;

/** A request as text that can be compared. */
export function shown({ method, url, headers, body }, action) {
  const own = new Set(action.parameters.filter((one) => one.in === "header").map((one) => one.name.toLowerCase()));
  const kept = headers.filter(([name]) => !name.startsWith("cf-") && (!OF_A_CLIENT.has(name) || own.has(name)));
  let bytes = body.toString("latin1");
  const lines = kept.map(([name, value]) => {
    const [, boundary] = (name === "content-type" && BOUNDARY.exec(value)) || [];
    if (boundary === undefined) return `${name}: ${value}`;
    bytes = bytes.replaceAll(boundary, "BOUNDARY");
    return `${name}: multipart/form-data; boundary=BOUNDARY`;
  });
  return { line: `${method} ${url}`, headers: lines.sort().join("\n"), body: bytes };
}

/** Which parts differ. */
export const differing = (ours, theirs) => Object.keys(ours).filter((part) => ours[part] !== theirs[part]);
