// The reference implementation for benchmarks: a TypeScript Worker for the catalog and for the vault's list, read and PATCH. Its
// README.md lists the missing features.
import { Hono } from "hono";
import { authenticate, authorize, readKey } from "./auth";
import { listActions, listConnectors } from "./catalog";
import { Problem, respond } from "./problem";
import { proxy } from "./proxy";
import { noQuery, readQuery } from "./query";
import type { Environment } from "./types";
import { listConnections, readConnection, updateConnection } from "./vault";

const app = new Hono<Environment>();

app.use(async (c, next) => {
  c.set("requestId", crypto.randomUUID());
  await next();
  c.header("vary", "x-service-secret, origin");
  c.header("x-content-type-options", "nosniff");
  c.header("x-request-id", c.get("requestId"));
});

app.get("/health", (c) => c.json({ status: "ok" }, 200, { "cache-control": "private, no-store" }));

const READ_METHODS = "GET, HEAD, OPTIONS";
const notAllowed = (allow: string) => () => {
  throw new Problem("method_not_allowed", `This path supports only ${allow}.`, {}, { allow });
};

app.use("/v1/*", readKey);
app.use("/v1/available-connectors", authenticate(true));
app.get("/v1/available-connectors", (c) => {
  authorize(c.get("principal"), "catalog:read");
  return listConnectors(c);
});
app.all("/v1/available-connectors", notAllowed(READ_METHODS));

app.use("/v1/available-actions/:platform", authenticate(true));
app.get("/v1/available-actions/:platform", (c) => {
  authorize(c.get("principal"), "catalog:read");
  return listActions(c);
});
app.all("/v1/available-actions/:platform", notAllowed(READ_METHODS));

app.use("/v1/whoami", authenticate(false));
app.get("/v1/whoami", (c) => {
  readQuery(c.req.url, noQuery);
  const { account, environment, scopes, expiresAt } = c.get("principal");
  const expires = expiresAt === null ? null : new Date(expiresAt).toISOString();
  return c.json({ account, environment, scopes, expiresAt: expires }, 200, { "cache-control": "private, no-store" });
});

app.get("/v1/vault/connections", listConnections);
app.get("/v1/vault/connections/:id", readConnection);
app.patch("/v1/vault/connections/:id", updateConnection);
app.all("/v1/vault/connections/:id/proxy/*", proxy);

app.use("/v1/*", authenticate(false));
app.notFound((c) => respond(c, new Problem("route_not_found", "The service has no such path.")));
app.onError((error, c) => {
  if (error instanceof Problem) return respond(c, error);
  console.error(error);
  return respond(c, new Problem("unavailable", "The service can't reach its storage. Try again shortly."));
});

export default app;
