// What platforms answer to a service that schemathesis asks: everything they are asked, they take.
export default function answer(_, Response) {
  return Response.json({ id: 583231, login: "octocat" });
}
