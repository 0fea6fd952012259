// The file through which the helper of a storage folder is found: its process, its port, and two secrets. It lies in that folder, so
// that whoever deletes the folder ends the helper. It names the folder, so that a copy of the folder does not lead to the
// helper of the original.
import { randomBytes } from "node:crypto";
import { linkSync, mkdirSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { lines } from "./lines.mjs";

const NAME = "storage-helper.json";
const ANSWER_MS = 5000;

const secret = () => randomBytes(24).toString("base64url");

function read(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}

/** Whether the helper of a record answers. */
async function answers({ port, token, proof }) {
  const socket = connect({ port, host: "127.0.0.1" });
  socket.setTimeout(ANSWER_MS, () => socket.destroy(new Error("no answer")));
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

  /** Makes this helper the folder's, unless there is one; gives the record of the one that is. */
  async publish() {
    const { folder, port, token, proof } = this;
    const own = { folder, pid: process.pid, port, token, proof };
    const written = `${this.file}.${process.pid}`;
    writeFileSync(written, JSON.stringify(own), { mode: 0o600 });
    try {
      for (;;) {
        try {
          // Whoever reads the file under its name finds all of it.
          linkSync(written, this.file);
          return own;
        } catch (error) {
          if (error.code !== "EEXIST") throw error;
        }
        const other = read(this.file);
        if (other?.folder === folder && (await answers(other))) return other;
        this.#clear(other);
      }
    } finally {
      rmSync(written, { force: true });
    }
  }

  /** Removes the record of a helper that is no more. */
  #clear(dead) {
    const aside = `${this.file}.${process.pid}.stale`;
    try {
      renameSync(this.file, aside);
    } catch (error) {
      if (error.code === "ENOENT") return;
      throw error;
    }
    // Another helper may have done the same, and be there by now: that one gets its record back.
    if (read(aside)?.token === dead?.token) rmSync(aside, { force: true });
    else renameSync(aside, this.file);
  }

  /** Whether others find this helper. */
  isCurrent() {
    return read(this.file)?.token === this.token;
  }

  remove() {
    if (this.isCurrent()) rmSync(this.file, { force: true });
  }
}
