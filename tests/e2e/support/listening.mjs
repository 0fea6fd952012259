// Helpers for HTTP servers in tests.

/** Listens on a port, by default a free one, and returns it. */
export async function listen(server, port = 0) {
  await new Promise((done, fail) => server.once("error", fail).listen(port, "127.0.0.1", done));
  return server.address().port;
}

/** The body of a request, as a string. */
export async function readBody(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
