// Every call of the npm package, for tests that must cover all of them.
import { CONNECTIONS, SUMMARY, connectionPath } from "./vault.mjs";

export const UNKNOWN = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa";

/** Every call, with the equivalent HTTP request. */
export const EVERY_CALL = {
  "connectors.list": [(client) => client.connectors.list(), "GET", "/v1/available-connectors", "catalog:read"],
  "actions.list": [(client) => client.actions.list("github"), "GET", "/v1/available-actions/github", "catalog:read"],
  "connectors.get": [
    (client) => client.connectors.get("github"),
    "GET",
    "/v1/available-connectors/github",
    "catalog:read",
  ],
  "actions.get": [
    (client) => client.actions.get("github", "issuesCreate"),
    "GET",
    "/v1/available-actions/github/issuesCreate",
    "catalog:read",
  ],
  "connections.list": [(client) => client.connections.list(), "GET", CONNECTIONS, "connections:read"],
  "connections.get": [(client) => client.connections.get(UNKNOWN), "GET", connectionPath(UNKNOWN), "connections:read"],
  "connections.update": [
    (client) => client.connections.update(UNKNOWN, { tags: ["x"] }),
    "PATCH",
    connectionPath(UNKNOWN),
    "connections:write",
  ],
  "connections.create": [
    (client) => client.connections.create({ platform: "github", identity: "never", identityType: "user" }),
    "POST",
    CONNECTIONS,
    "connections:write",
  ],
  "connections.setState": [
    (client) => client.connections.setState(UNKNOWN, { state: "failed" }),
    "PUT",
    `${connectionPath(UNKNOWN)}/state`,
    "connections:write",
  ],
  "connections.setName": [
    (client) => client.connections.setName(UNKNOWN, "Ann"),
    "PUT",
    `${connectionPath(UNKNOWN)}/name`,
    "connections:write",
  ],
  "connections.delete": [
    (client) => client.connections.delete(UNKNOWN),
    "DELETE",
    connectionPath(UNKNOWN),
    "connections:write",
  ],
  "connections.summary": [(client) => client.connections.summary(), "GET", SUMMARY, "connections:read"],
  whoami: [(client) => client.whoami(), "GET", "/v1/whoami", undefined],
  "connectors, iterated": [
    (client) => client.connectors.list().toArray(),
    "GET",
    "/v1/available-connectors?limit=100",
    "catalog:read",
  ],
  "connections, iterated": [
    (client) => client.connections.list()[Symbol.asyncIterator]().next(),
    "GET",
    `${CONNECTIONS}?limit=100`,
    "connections:read",
  ],
};
