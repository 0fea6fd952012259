// Creates a catalog of local platforms with the operator's command, from documents and a providers file.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { importPlatforms } from "./workspace.mjs";

/** Serializes a value as TOML. */
function toml(value) {
  if (Array.isArray(value)) return `[${value.map(toml).join(", ")}]`;
  if (typeof value !== "object") return JSON.stringify(value);
  return `{ ${Object.entries(value)
    .map(([name, member]) => `${JSON.stringify(name)} = ${toml(member)}`)
    .join(", ")} }`;
}

const lines = (members) =>
  Object.entries(members)
    .map(([name, value]) => `${name} = ${toml(value)}\n`)
    .join("");

/** An entry of the providers file with one method, by default OAuth 2.0. */
function entry([name, { auth, ...platform }]) {
  const oauth = { id: "oauth", type: "oauth2", grant: "authorization_code" };
  const method = { ...(auth.type ? {} : oauth), source: "these tests", read: "2026-11-22", ...auth };
  return `[platforms.${name}]\n${lines({ name, ...platform })}\n[[platforms.${name}.auth]]\n${lines(method)}\n`;
}

/** An OpenAPI document with the URLs of an authorization server. */
const document = (name, { server, authorizationUrl, tokenUrl, scopes }) => ({
  openapi: "3.0.3",
  info: { title: name, version: "1", "x-providerName": name, license: { name: "MIT" } },
  servers: [{ url: server }],
  paths: { "/me": { get: { operationId: "me", summary: "Get me", responses: { 200: { description: "Me" } } } } },
  components: {
    securitySchemes: {
      oauth: { type: "oauth2", flows: { authorizationCode: { authorizationUrl, tokenUrl, scopes } } },
    },
  },
});

/**
 * Imports platforms: from OpenAPI documents in `documents`, and from the providers file in `providers`.
 * @param {string} name of the catalog
 */
export function platformCatalog(name, folder, { documents, providers }) {
  const sources = join(folder, `${name}-documents`);
  mkdirSync(sources, { recursive: true });
  for (const [platform, facts] of Object.entries(documents))
    writeFileSync(join(sources, `${platform}.json`), JSON.stringify(document(platform, facts)));
  const file = join(folder, `${name}-providers.toml`);
  writeFileSync(file, Object.entries(providers).map(entry).join("\n"));
  return importPlatforms(name, sources, file);
}
