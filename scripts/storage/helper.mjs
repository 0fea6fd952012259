// A helper process that keeps local storage open for the operator's commands. Without it, each command would start wrangler,
// which takes two seconds. `connector-vault` starts it if none serves the folder yet. All commands on the folder share it.
//
//   node scripts/storage/helper.mjs FOLDER [IDLE_SECONDS]
//
// FOLDER is wrangler's local storage, usually .wrangler/state. The first line of standard output is the record (record.mjs) of
// the helper that serves the folder: this one, or one that was already running. Errors go to standard error, with exit code 1.
//
// The helper listens on the loopback interface. Each line is one JSON value. A connection begins with
//
//   → {"token":"…"}   from the record, which only this user can read
//   ← {"proof":"…"}   also from the record: another program that reuses the port of a dead helper cannot know it
//
// Requests follow, one after the other; storage.mjs describes them. Requests of all connections are processed one at a time. The
// helper exits after IDLE_SECONDS without a connection, and when its record is gone.
import { createServer } from "node:net";
import { lines } from "./lines.mjs";
import { Record } from "./record.mjs";
import { Storage } from "./storage.mjs";

const IDLE_SECONDS = 30;
const CHECK_INTERVAL_MS = 1000;

const [folder, idleSeconds = IDLE_SECONDS] = process.argv.slice(2);
const connections = new Set();
const server = createServer((socket) => {
  connections.add(socket);
  clearTimeout(idle);
  // A killed client resets its connection, which is not an error of the helper.
  socket.on("error", () => {});
  socket.on("close", () => {
    connections.delete(socket);
    if (connections.size === 0) waitForConnection();
  });
  serveConnection(socket)
    .catch(() => {})
    .finally(() => socket.end());
});
const storage = new Storage(folder);
let record;
let idle;
let lastRequest = Promise.resolve();
// biome-ignore lint/correctness/noUnusedVariables: `??=` reads it, to end only once
let ending;

function waitForConnection() {
  clearTimeout(idle);
  idle = setTimeout(end, idleSeconds * 1000);
}

/** Processes a request after all earlier ones. */
function enqueue(request) {
  const result = lastRequest.then(() => {
    if (!record.isCurrent()) throw new Error(`the folder ${folder} is gone`);
    return storage.run(request);
  });
  lastRequest = result.catch(() => {});
  return result;
}

async function serveConnection(socket) {
  const reply = (response) => socket.write(`${JSON.stringify(response)}\n`);
  let authenticated = false;
  for await (const line of lines(socket)) {
    const message = JSON.parse(line);
    if (!authenticated) {
      if (message.token !== record.token) return;
      authenticated = true;
      reply({ proof: record.proof });
      continue;
    }
    try {
      reply(await enqueue(message));
    } catch (error) {
      reply({ error: error.message });
      // An error of a statement is harmless. After any other error the helper exits, so that the next command gets a new one.
      if (!/^(?:D1|KV)[ _]/.test(error.message)) end(1);
    }
  }
}

function end(code = 0) {
  ending ??= (async () => {
    record.remove();
    server.close();
    await lastRequest;
    for (const socket of connections) socket.end();
    await storage.close().catch(() => {});
    process.exit(code);
  })();
}

for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
await new Promise((done, fail) => server.once("error", fail).listen(0, "127.0.0.1", done));
record = new Record(folder, server.address().port);
const registered = await record.publish();
process.stdout.write(`${JSON.stringify(registered)}\n`);
if (registered.token === record.token) {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => end());
  process.on("uncaughtException", () => end(1));
  setInterval(() => record.isCurrent() || end(), CHECK_INTERVAL_MS).unref();
  waitForConnection();
  // Loads Miniflare before the first request arrives, to save time.
  storage.prepare();
} else {
  server.close();
}
