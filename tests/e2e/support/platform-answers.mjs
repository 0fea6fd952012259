// What platforms answer to the service in tests: GitHub takes every token but one.
/** The answer to a request, of the class of the runtime that sends it. */
export default function answer(request, Response) {
  const { host, pathname } = new URL(request.url);
  if (host !== "api.github.com" || pathname !== "/user") throw new Error(`nobody answers ${request.url}`);
  if (request.headers.get("authorization") === "Bearer wrong-token") return new Response("{}", { status: 401 });
  return new Response(JSON.stringify({ id: 583231, login: "octocat" }), { status: 200 });
}
