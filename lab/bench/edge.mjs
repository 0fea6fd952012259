// A proxy in front of `wrangler dev` that compresses responses, as Cloudflare's network does. Uses gzip only, so that sizes are
// comparable with those of the build; Cloudflare also supports Brotli.
import { Agent, createServer, request as ask } from "node:http";
import { pipeline } from "node:stream";
import { createGzip } from "node:zlib";

// The media types of this site that Cloudflare compresses.
const COMPRESSED = /^(text\/|application\/(json|javascript|problem\+json|wasm)|image\/svg\+xml)/;

/** Proxies another port with compression: { origin, close() }. */
export async function edge(port) {
  const agent = new Agent({ keepAlive: true });
  const server = createServer((request, response) => {
    const headers = { ...request.headers, "accept-encoding": "identity" };
    const forwarded = ask(
      { port, host: "127.0.0.1", agent, method: request.method, path: request.url, headers },
      (reply) => {
        // The browser closed the page in the meantime.
        if (response.destroyed) return reply.destroy();
        const { "content-length": length, ...rest } = reply.headers;
        const isSmaller =
          COMPRESSED.test(rest["content-type"] ?? "") && reply.statusCode !== 304 && request.method !== "HEAD";
        if (!isSmaller) {
          response.writeHead(reply.statusCode, reply.headers);
          return pipeline(reply, response, () => {});
        }
        response.writeHead(reply.statusCode, { ...rest, "content-encoding": "gzip" });
        pipeline(reply, createGzip(), response, () => {});
      },
    );
    forwarded.on("error", () => response.destroy());
    pipeline(request, forwarded, () => {});
  });
  await new Promise((done, fail) => server.once("error", fail).listen(0, "127.0.0.1", done));
  return {
    origin: `http://127.0.0.1:${server.address().port}`,
    async close() {
      agent.destroy();
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}
