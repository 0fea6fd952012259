// The responses of platforms while schemathesis runs: they accept every request.
export default function answer(_, Response) {
  return Response.json({ id: 583231, login: "octocat" });
}
