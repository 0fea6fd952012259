// The record of a storage folder's helper: a file with its process id, its port and two secrets. The file is in the folder, so that
// deleting the folder ends the helper. It contains the path of the folder, so that a copied folder does not use the original's helper.
import { randomBytes } from "node:crypto";
import { linkSync, mkdirSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { lines } from "./lines.mjs";

const NAME = "storage-helper.json";
const RESPONSE_TIMEOUT_MS = 5000;

const secret = () => randomBytes(24).toString("base64url");

function read(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}

/** Whether the helper of a record is running. */
async function isRunning({ port, token, proof }) {
  const socket = connect({ port, host: "127.0.0.1" });
  socket.setTimeout(RESPONSE_TIMEOUT_MS, () => socket.destroy(new Error("no response")));
  try {
    socket.write(`${JSON.stringify({ token })}\n`);
    const { value } = await lines(socket).next();
    return JSON.parse(value).proof === proof;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

export class Record {
  /** @param {string} folder of the storage @param {number} port on which the helper listens */
  constructor(folder, port) {
    mkdirSync(folder, { recursive: true });
    this.folder = realpathSync(folder);
    this.file = join(this.folder, NAME);
    this.port = port;
    this.token = secret();
    this.proof = secret();
  }

  /** Registers this helper, unless the folder has one. Returns the record of the registered helper. */
  async publish() {
    const { folder, port, token, proof } = this;
    const record = { folder, pid: process.pid, port, token, proof };
    const ownFile = `${this.file}.${process.pid}`;
    writeFileSync(ownFile, JSON.stringify(record), { mode: 0o600 });
    try {
      for (;;) {
        try {
          // Linked only when it is complete, so that readers never see an incomplete file.
          linkSync(ownFile, this.file);
          return record;
        } catch (error) {
          if (error.code !== "EEXIST") throw error;
        }
        const existing = read(this.file);
        if (existing?.folder === folder && (await isRunning(existing))) return existing;
        this.#removeStale(existing);
      }
    } finally {
      rmSync(ownFile, { force: true });
    }
  }

  /** Removes the record of a helper that has exited. */
  #removeStale(deadRecord) {
    const movedFile = `${this.file}.${process.pid}.stale`;
    try {
      renameSync(this.file, movedFile);
    } catch (error) {
      if (error.code === "ENOENT") return;
      throw error;
    }
    // If another helper has replaced the stale record in the meantime, restore its record.
    if (read(movedFile)?.token === deadRecord?.token) rmSync(movedFile, { force: true });
    else renameSync(movedFile, this.file);
  }

  /** Whether the record is that of this helper. */
  isCurrent() {
    return read(this.file)?.token === this.token;
  }

  remove() {
    if (this.isCurrent()) rmSync(this.file, { force: true });
  }
}
