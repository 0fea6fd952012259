// Compares two requests on the wire, ignoring headers about the client and its connection.

/** Headers that the HTTP client adds, rather than the action. */
const CLIENT_HEADERS = new Set([
  ...["host", "connection", "content-length", "transfer-encoding", "user-agent", "accept", "accept-encoding"],
  ...["accept-language", "sec-fetch-mode", "authorization"],
  // `fetch` adds these to conditional requests.
  ...["cache-control", "pragma"],
]);
const BOUNDARY = /^multipart\/form-data; ?boundary=(.*)$/;

export function normalized({ method, url, headers, body }, action) {
  const ownHeaders = new Set(
    action.parameters.filter((parameter) => parameter.in === "header").map((parameter) => parameter.name.toLowerCase()),
  );
  const relevant = headers.filter(
    ([name]) => !name.startsWith("cf-") && (!CLIENT_HEADERS.has(name) || ownHeaders.has(name)),
  );
  let bytes = body.toString("latin1");
  const lines = relevant.map(([name, value]) => {
    const [, boundary] = (name === "content-type" && BOUNDARY.exec(value)) || [];
    if (boundary === undefined) return `${name}: ${value}`;
    bytes = bytes.replaceAll(boundary, "BOUNDARY");
    return `${name}: multipart/form-data; boundary=BOUNDARY`;
  });
  return { line: `${method} ${url}`, headers: lines.sort().join("\n"), body: bytes };
}

export const differingParts = (ours, theirs) => Object.keys(ours).filter((part) => ours[part] !== theirs[part]);
