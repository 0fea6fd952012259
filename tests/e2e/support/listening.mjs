// Small HTTP servers of the tests' own.

/** Listens on a port that nobody uses, and returns it. */
export async function listen(server) {
  await new Promise((done, fail) => server.once("error", fail).listen(0, "127.0.0.1", done));
  return server.address().port;
}

/** The body of a request, as text. */
export async function readBody(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
