// Serves files over HTTP, each site on its own port and origin.
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";

const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".mjs": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json",
  ".map": "application/json",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
};

export class Site {
  /**
   * @param {string} folder
   * @param {{ headers?: Record<string, string> }} [options] headers of every response
   */
  static async start(folder, { headers = {} } = {}) {
    const site = new Site();
    site.server = createServer((request, response) => answer(folder, headers, request, response));
    await new Promise((done, fail) => site.server.once("error", fail).listen(0, "127.0.0.1", done));
    site.origin = `http://127.0.0.1:${site.server.address().port}`;
    return site;
  }

  async stop() {
    this.server.closeAllConnections();
    await new Promise((done) => this.server.close(done));
  }
}

async function answer(folder, headers, request, response) {
  const { pathname } = new URL(request.url, "http://site");
  const path = normalize(decodeURIComponent(pathname.endsWith("/") ? `${pathname}index.html` : pathname));
  // Browsers request an icon by default, and log an error if it is missing.
  if (path === "/favicon.ico") return response.writeHead(204, headers).end();
  const body = await readFile(join(folder, path)).catch(() => undefined);
  if (body === undefined)
    return response.writeHead(404, { "content-type": "text/plain" }).end(`There is no ${path}.\n`);
  response.writeHead(200, { "content-type": TYPES[extname(path)] ?? "application/octet-stream", ...headers }).end(body);
}
