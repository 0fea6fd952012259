// A simulated platform, whose responses depend on the path and echo the request.
import { createServer } from "node:http";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { listen } from "./listening.mjs";
import { folder, importPlatforms } from "./workspace.mjs";

/** The size of one write of a large response. */
const CHUNK = Buffer.alloc(1 << 16, "x");

/** The OpenAPI document of the platform. */
export const documentAt = (origin) => ({
  openapi: "3.0.3",
  info: { title: "Called", version: "1", "x-providerName": "called", license: { name: "MIT" } },
  servers: [{ url: `${origin}/api` }, { url: `${origin}/other` }],
  paths: {
    "/things/{id}": {
      get: {
        operationId: "getThing",
        summary: "Get a thing",
        parameters: [
          { name: "id", in: "path", required: true, schema: { type: "integer", minimum: 1 } },
          { name: "view", in: "query", schema: { type: "string", enum: ["short", "long"] } },
        ],
        responses: { 200: { description: "The thing" } },
      },
    },
    "/owners/{owner}/things": {
      post: {
        operationId: "createThing",
        summary: "Create a thing",
        parameters: [
          { name: "owner", in: "path", required: true, schema: { type: "string" } },
          { name: "tags", in: "query", schema: { type: "array", items: { type: "string", pattern: "^[a-z]+$" } } },
        ],
        requestBody: {
          required: true,
          content: {
            "application/json": {
              schema: {
                type: "object",
                required: ["name"],
                properties: { name: { type: "string" }, size: { type: "integer" } },
                additionalProperties: false,
              },
            },
          },
        },
        responses: { 201: { description: "Created" } },
      },
    },
  },
  components: { securitySchemes: { token: { type: "http", scheme: "bearer" } } },
  security: [{ token: [] }],
});

/** Creates a catalog with the platform. `providers` adds to its document. */
export function calledCatalog(name, { origin }, providers = "") {
  const documents = join(folder, `${name}-documents`);
  mkdirSync(documents, { recursive: true });
  writeFileSync(join(documents, "called.json"), JSON.stringify(documentAt(origin)));
  const known = join(folder, `${name}-providers.toml`);
  writeFileSync(known, providers);
  return importPlatforms(name, documents, known);
}

export class Platform {
  /** Every request: { method, url, headers, trailers, size, hash, body, ended }. */
  requests = [];
  /** The accepted token. */
  token = "good";
  /** The target of the redirect to another origin. */
  redirectTarget = "http://localhost:1/elsewhere";

  static async start() {
    const platform = new Platform();
    platform.http = createServer((request, response) => platform.#answer(request, response));
    platform.port = await listen(platform.http);
    platform.origin = `http://127.0.0.1:${platform.port}`;
    return platform;
  }

  get last() {
    return this.requests.at(-1);
  }

  async #answer(request, response) {
    const { method, url, headers } = request;
    const seen = { method, url, headers, size: 0, ended: Promise.withResolvers() };
    this.requests.push(seen);
    response.on("close", () => seen.ended.resolve(response.writableFinished ? "finished" : "aborted"));
    const { pathname, searchParams } = new URL(url, this.origin);
    if (headers.authorization !== `Bearer ${this.token}`) return response.writeHead(401).end("who are you?");
    const path = pathname.replace(/^\/api/, "");
    // Responds before the body has arrived.
    if (path === "/impatient") return response.writeHead(401, { "www-authenticate": "Bearer" }).end("too late");
    if (path === "/trailers") return this.#trailers(response);
    if (path === "/events") return this.#events(response, seen);
    const text = [];
    const hash = path === "/form" ? createHash("sha256") : undefined;
    try {
      for await (const chunk of request) {
        seen.size += chunk.length;
        hash?.update(chunk);
        if (seen.size <= 10_000) text.push(chunk);
      }
    } catch {
      return;
    }
    seen.body = Buffer.concat(text).toString();
    seen.hash = hash?.digest("hex");
    seen.trailers = request.trailers;
    if (path === "/page") return this.#page(response, Number(searchParams.get("bytes")));
    if (path === "/large") return this.#large(response, Number(searchParams.get("bytes")));
    if (path === "/gzip") {
      const body = gzipSync("compressed text ".repeat(1000));
      return response.writeHead(200, { "content-type": "text/plain", "content-encoding": "gzip" }).end(body);
    }
    if (path === "/range" && headers.range === "bytes=2-4")
      return response.writeHead(206, { "content-range": "bytes 2-4/10", "content-type": "text/plain" }).end("234");
    if (path === "/etag" && headers["if-none-match"] === '"1"') return response.writeHead(304, { etag: '"1"' }).end();
    if (path === "/none") return response.writeHead(204).end();
    if (path === "/moved") return response.writeHead(302, { location: "/api/there?x=1" }).end();
    if (path === "/away") return response.writeHead(302, { location: this.redirectTarget }).end();
    if (path === "/length")
      return response.writeHead(200, { "content-length": "7" }).end(method === "HEAD" ? "" : "1234567");
    response.writeHead(200, {
      "content-type": "application/json",
      "set-cookie": "session=1",
      "x-request-id": "theirs",
      "cache-control": "public, max-age=600",
    });
    response.end(JSON.stringify({ method, url, headers, size: seen.size, body: seen.body }));
  }

  #events(response, seen) {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write("data: first\n\n");
    // The second part is sent after the test has received the first.
    seen.end = () => response.end();
    seen.next = (text) => response.write(`data: ${text}\n\n`);
  }

  /** A page of a list of this many bytes, without `Content-Length`, and with the next page at its end. */
  async #page(response, bytes) {
    response.writeHead(200, { "content-type": "application/json" });
    response.write('{"items":"');
    for (let sent = 0; sent < bytes; sent += CHUNK.length)
      if (!response.write(CHUNK.subarray(0, bytes - sent))) await once(response, "drain");
    response.end('","next":"page-2"}');
  }

  #trailers(response) {
    response.writeHead(200, { "content-type": "text/plain", trailer: "x-checksum" });
    response.write("text");
    response.addTrailers({ "x-checksum": "1" });
    response.end();
  }

  async #large(response, bytes) {
    response.writeHead(200, { "content-type": "application/octet-stream" });
    for (let sent = 0; sent < bytes && !response.destroyed; sent += CHUNK.length)
      if (!response.write(CHUNK))
        await new Promise((done) => {
          const resume = () => done(response.off("drain", resume).off("close", resume));
          response.on("drain", resume).on("close", resume);
        });
    response.end();
  }

  stop() {
    this.http.closeAllConnections();
    return new Promise((done) => this.http.close(done));
  }
}
