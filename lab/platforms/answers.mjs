// What the Worker sends to platforms goes to the process at this port, over HTTP, which answers for them.
const port = process.env.CONNECTOR_VAULT_PLATFORMS;

/** The answer to a request, of the class of the runtime that sends it. */
export default async function answer(request, Response) {
  const headers = { "content-type": "application/json" };
  const { method, url } = request;
  const asked = { method, url, headers: [...request.headers], body: await request.text() };
  const sent = await fetch(`http://127.0.0.1:${port}/`, { method: "POST", headers, body: JSON.stringify(asked) });
  const { status, headers: answered, body } = await sent.json();
  return new Response(body, { status, headers: answered });
}
