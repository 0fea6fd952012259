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
  const server = createServer((asked, response) => {
    const headers = { ...asked.headers, "accept-encoding": "identity" };
    const passed = ask({ port, host: "127.0.0.1", agent, method: asked.method, path: asked.url, headers }, (answer) => {
      // The page was closed in the meantime.
      if (response.destroyed) return answer.destroy();
      const { "content-length": length, ...rest } = answer.headers;
      const isSmaller =
        COMPRESSED.test(rest["content-type"] ?? "") && answer.statusCode !== 304 && asked.method !== "HEAD";
      if (!isSmaller) {
        response.writeHead(answer.statusCode, answer.headers);
        return pipeline(answer, response, () => {});
      }
      response.writeHead(answer.statusCode, { ...rest, "content-encoding": "gzip" });
      pipeline(answer, createGzip(), response, () => {});
    });
    passed.on("error", () => response.destroy());
    pipeline(asked, passed, () => {});
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
