// The description of the demo platform for the catalog: its OpenAPI document, and its auth methods.
import { SCOPES } from "./oauth.mjs";

export const PLATFORM = "demo-notes";

const text = { type: "string" };
const note = {
  type: "object",
  required: ["id", "title", "body", "createdAt", "updatedAt"],
  properties: {
    id: text,
    title: text,
    body: text,
    createdAt: { ...text, format: "date-time" },
    updatedAt: { ...text, format: "date-time" },
  },
};
const fields = {
  title: { type: "string", minLength: 1, maxLength: 200 },
  body: { type: "string", maxLength: 10000 },
};
const json = (schema) => ({ content: { "application/json": { schema } } });
const responses = (status, description, schema) => ({ [status]: { description, ...(schema && json(schema)) } });
const query = (name, description, schema, required = false) => ({ name, in: "query", description, schema, required });
const paging = [
  query("limit", "How many notes a page has at most", { type: "integer", minimum: 1, maximum: 50, default: 5 }),
  query("cursor", "The `next` of the page before", text),
];
const page = {
  type: "object",
  required: ["notes", "next"],
  properties: { notes: { type: "array", items: note }, next: { type: ["string", "null"] } },
};
const withScope = (scope) => [{ oauth: scope ? [scope] : [] }, { key: [] }];

export const openApi = (origin) => ({
  openapi: "3.1.0",
  info: {
    title: "Demo Notes (local)",
    version: "1",
    description: "Generated notes of two fictional people, on this machine only.",
    "x-providerName": `${PLATFORM}.example`,
  },
  servers: [{ url: `${origin}/api` }],
  paths: {
    "/me": {
      get: {
        operationId: "getMe",
        summary: "Get the person whose notes these are",
        tags: ["account"],
        security: withScope(),
        responses: responses(200, "The person", {
          type: "object",
          required: ["id", "name", "email"],
          properties: { id: text, name: text, email: text },
        }),
      },
    },
    "/notes": {
      get: {
        operationId: "listNotes",
        summary: "List notes, newest first",
        tags: ["notes"],
        security: withScope("notes:read"),
        parameters: paging,
        responses: responses(200, "A page", page),
      },
      post: {
        operationId: "createNote",
        summary: "Create a note",
        tags: ["notes"],
        security: withScope("notes:write"),
        requestBody: {
          required: true,
          ...json({ type: "object", required: ["title"], additionalProperties: false, properties: fields }),
        },
        responses: responses(201, "The note", note),
      },
    },
    "/notes/search": {
      get: {
        operationId: "searchNotes",
        summary: "Search notes",
        tags: ["notes"],
        security: withScope("notes:read"),
        parameters: [query("q", "Words that must all occur", { type: "string", minLength: 1 }, true), ...paging],
        responses: responses(200, "A page", page),
      },
    },
    "/notes/{id}": {
      parameters: [{ name: "id", in: "path", required: true, schema: text }],
      get: {
        operationId: "getNote",
        summary: "Get a note",
        tags: ["notes"],
        security: withScope("notes:read"),
        responses: responses(200, "The note", note),
      },
      patch: {
        operationId: "updateNote",
        summary: "Update a note",
        tags: ["notes"],
        security: withScope("notes:write"),
        requestBody: { required: true, ...json({ type: "object", additionalProperties: false, properties: fields }) },
        responses: responses(200, "The note", note),
      },
      delete: {
        operationId: "deleteNote",
        summary: "Delete a note",
        tags: ["notes"],
        security: withScope("notes:write"),
        responses: responses(204, "Deleted"),
      },
    },
  },
  components: {
    securitySchemes: {
      oauth: {
        type: "oauth2",
        flows: {
          authorizationCode: {
            authorizationUrl: `${origin}/oauth/authorize`,
            tokenUrl: `${origin}/oauth/token`,
            scopes: SCOPES,
          },
        },
      },
      key: { type: "apiKey", in: "header", name: "x-api-key" },
    },
  },
});

/** Facts that an OpenAPI document can't express, in the format of catalog.toml. */
export const overrides = (origin) => `[platforms.${PLATFORM}]
name = "Demo Notes (local)"
category = "Collaboration"
authkit = true
verify = "GET /me"
account = { request = "GET /me", id = "/id", name = "/name" }

[[platforms.${PLATFORM}.auth]]
id = "oauth2"
type = "oauth2"
grant = "authorization_code"
issuer = "${origin}"
authorizationUrl = "${origin}/oauth/authorize"
tokenUrl = "${origin}/oauth/token"
revocationUrl = "${origin}/oauth/revoke"
pkce = "S256"
tokenAuth = "none"
scopes = [
${Object.entries(SCOPES)
  .map(([name, description]) => `    { name = "${name}", description = "${description}" },\n`)
  .join("")}]

[[platforms.${PLATFORM}.auth]]
id = "api-key"
type = "api_key"
in = "header"
name = "x-api-key"
fields = [
    { name = "apiKey", label = "API key", description = "Shown on the page of Ada or Ben at ${origin}", secret = true, required = true },
]
`;
