// The simulated platforms while schemathesis runs, which accept every request.
export default function answer(_, Response) {
  return Response.json({ id: 583231, login: "octocat" });
}
