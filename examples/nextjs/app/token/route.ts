import { currentUser } from "../../lib/user";
import { createSession } from "../../lib/vault";

/** Gives the page a token for the user who is signed in. */
export async function POST(): Promise<Response> {
  const user = await currentUser();
  if (!user) return new Response(undefined, { status: 401 });
  return Response.json(await createSession(user), { headers: { "cache-control": "no-store" } });
}
