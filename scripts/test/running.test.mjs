// A second start on a storage that is being served is refused.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { ensureNotServed, recordServing, removeServing } from "../start/running.mjs";

const state = mkdtempSync(join(tmpdir(), "connector-vault-running-"));
const file = join(state, "v3", "serving.json");

after(() => rmSync(state, { recursive: true, force: true }));

/** A process that answers like a service, until it is killed. */
async function startService() {
  const source = `require("node:http").createServer((request, response) => response.end("{}"))
    .listen(0, "127.0.0.1", function () { console.log(this.address().port); });`;
  const child = spawn(process.execPath, ["-e", source], { stdio: ["ignore", "pipe", "inherit"] });
  const [port] = await once(child.stdout.setEncoding("utf8"), "data");
  const stop = async () => {
    child.kill("SIGKILL");
    await once(child, "close");
  };
  return { pid: child.pid, address: `http://127.0.0.1:${port.trim()}`, stop };
}

test("a storage is served by one process", async () => {
  await ensureNotServed(state);
  mkdirSync(join(state, "v3"));
  const service = await startService();
  writeFileSync(file, JSON.stringify({ pid: service.pid, address: service.address }));
  await assert.rejects(ensureNotServed(state), {
    message: `This storage is being served already, on ${service.address} (process ${service.pid}).`,
  });
  // Another program can have the id of a service that was killed.
  writeFileSync(file, JSON.stringify({ pid: service.pid, address: "http://127.0.0.1:1" }));
  await ensureNotServed(state);
  writeFileSync(file, JSON.stringify({ pid: service.pid, address: service.address }));
  removeServing(state);
  assert.ok(existsSync(file), "the record of another process was removed");
  await service.stop();
  await ensureNotServed(state);
  recordServing(state, service.address);
  await ensureNotServed(state);
  removeServing(state);
  assert.ok(!existsSync(file));
});
