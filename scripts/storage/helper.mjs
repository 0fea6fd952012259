// Keeps this machine's storage open for the operator's commands. Without it, each command would start wrangler's command
// line, which takes two seconds. `connector-vault` starts it when none serves the folder yet, and everybody who works on
// the same folder shares it.
//
//   node scripts/storage/helper.mjs FOLDER [IDLE_SECONDS]
//
// FOLDER is where wrangler keeps local storage, usually .wrangler/state. The first line of standard output is the record
// (record.mjs) of the helper that serves the folder: this one, or the one that was there first. A failure is told on
// standard error, and the exit code is 1.
//
// The helper listens on the loopback interface. Each line is one JSON value. A connection begins with
//
//   → {"token":"…"}   from the record, which only this user can read
//   ← {"proof":"…"}   from the record, too: whoever listens now on the port of a dead helper cannot know it
//
// and goes on with requests, one after the other; what they are is in storage.mjs. Requests of all connections are
// answered one at a time. The helper ends when it has had no connection for IDLE_SECONDS, and when its record is gone.
import { createServer } from "node:net";
import { lines } from "./lines.mjs";
import { Record } from "./record.mjs";
import { Storage } from "./storage.mjs";

const IDLE_SECONDS = 30;
const LOOK_EVERY_MS = 1000;

const [folder, idleSeconds = IDLE_SECONDS] = process.argv.slice(2);
const connections = new Set();
const server = createServer((socket) => {
  connections.add(socket);
  clearTimeout(idle);
  // A client that is killed resets its connection, which is no fault of ours.
  socket.on("error", () => {});
  socket.on("close", () => {
    connections.delete(socket);
    if (connections.size === 0) waitForConnection();
  });
  converse(socket)
    .catch(() => {})
    .finally(() => socket.end());
});
const storage = new Storage(folder);
let record;
let idle;
let last = Promise.resolve();
// biome-ignore lint/correctness/noUnusedVariables: it is set once, which is all that matters
let ending;

function waitForConnection() {
  clearTimeout(idle);
  idle = setTimeout(end, idleSeconds * 1000);
}

/** Answers after everything that was asked before. */
function inTurn(request) {
  const answered = last.then(() => {
    if (!record.isCurrent()) throw new Error(`the folder ${folder} is gone`);
    return storage.answer(request);
  });
  last = answered.catch(() => {});
  return answered;
}

async function converse(socket) {
  const say = (answer) => socket.write(`${JSON.stringify(answer)}\n`);
  let greeted = false;
  for await (const line of lines(socket)) {
    const message = JSON.parse(line);
    if (!greeted) {
      if (message.token !== record.token) return;
      greeted = true;
      say({ proof: record.proof });
      continue;
    }
    try {
      say(await inTurn(message));
    } catch (error) {
      say({ error: error.message });
      // The database refused a statement, and that is all. After anything else the next command gets a new helper.
      if (!/^(?:D1|KV)[ _]/.test(error.message)) end(1);
    }
  }
}

function end(code = 0) {
  ending ??= (async () => {
    record.remove();
    server.close();
    await last;
    for (const socket of connections) socket.end();
    await storage.close().catch(() => {});
    process.exit(code);
  })();
}

for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
await new Promise((done, fail) => server.once("error", fail).listen(0, "127.0.0.1", done));
record = new Record(folder, server.address().port);
const first = await record.publish();
process.stdout.write(`${JSON.stringify(first)}\n`);
if (first.token === record.token) {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => end());
  process.on("uncaughtException", () => end(1));
  setInterval(() => record.isCurrent() || end(), LOOK_EVERY_MS).unref();
  waitForConnection();
  // Opened ahead of the first request, which is under way by now.
  storage.prepare();
} else {
  server.close();
}
