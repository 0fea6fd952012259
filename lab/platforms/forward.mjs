// Forwards the Worker's requests to platforms to the process at this port, which simulates them.
const port = process.env.CONNECTOR_VAULT_PLATFORMS;

/** Returns the response to a request, as an instance of the runtime's `Response`. */
export default async function answer(request, Response) {
  const headers = { "content-type": "application/json" };
  const { method, url } = request;
  const incoming = { method, url, headers: [...request.headers], body: await request.text() };
  const sent = await fetch(`http://127.0.0.1:${port}/`, { method: "POST", headers, body: JSON.stringify(incoming) });
  const { status, headers: answered, body } = await sent.json();
  return new Response(body, { status, headers: answered });
}
