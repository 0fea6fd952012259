// A platform that sends the same response to every request, and records requests.
import { once } from "node:events";
import { createServer } from "node:http";

/** The time after which idle connections are closed. */
export const KEEP_ALIVE_MS = 600_000;

export class Recorder {
  static async start() {
    const recorder = new Recorder();
    recorder.http = createServer(async (request, response) => {
      const chunks = [];
      for await (const chunk of request) chunks.push(chunk);
      const { method, url, rawHeaders } = request;
      const headers = [];
      for (let at = 0; at < rawHeaders.length; at += 2)
        headers.push([rawHeaders[at].toLowerCase(), rawHeaders[at + 1]]);
      recorder.last = { method, url, headers, body: Buffer.concat(chunks) };
      response.writeHead(200, { "content-type": "application/json" }).end("{}");
    });
    // Closing a connection while a request arrives would look like a failure.
    recorder.http.keepAliveTimeout = KEEP_ALIVE_MS;
    recorder.http.listen(0, "127.0.0.1");
    await once(recorder.http, "listening");
    recorder.origin = `http://127.0.0.1:${recorder.http.address().port}`;
    return recorder;
  }

  /** Returns the requests since the last call. */
  take() {
    const { last } = this;
    this.last = undefined;
    return last;
  }

  stop() {
    this.http.closeAllConnections();
    return new Promise((done) => this.http.close(done));
  }
}
