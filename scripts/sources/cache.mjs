// The folder of downloaded documents: each is named by its content, records.json says what was last found where, and
// partial/ has downloads that were interrupted.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The largest document, in bytes; the importer reads no larger one. */
export const MAX_BYTES = 128 << 20;

export const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");

export class Cache {
  #folder;
  #records;

  constructor(folder) {
    this.#folder = folder;
    for (const name of ["documents", "partial"]) mkdirSync(join(folder, name), { recursive: true });
    this.#records = this.#read();
  }

  #read() {
    try {
      return JSON.parse(readFileSync(join(this.#folder, "records.json"), "utf8"));
    } catch {
      // Without records, or with damaged ones, everything is downloaded again.
      return {};
    }
  }

  document(hash) {
    return join(this.#folder, "documents", hash);
  }

  /** What was last found at an address, as { sha256, etag, lastModified }; undefined if the document is not here. */
  record(address) {
    const record = this.#records[address];
    return record && existsSync(this.document(record.sha256)) ? record : undefined;
  }

  /** Where an interrupted download of an address is. */
  partial(address) {
    const file = join(this.#folder, "partial", sha256(address));
    return { file, note: `${file}.json` };
  }

  /** Keeps a document; gives its hash. */
  keep(address, bytes, validators = {}) {
    if (bytes.length === 0) throw new Error("the document is empty");
    if (bytes.length > MAX_BYTES) throw new Error(`the document is larger than ${MAX_BYTES >> 20} MiB`);
    const hash = sha256(bytes);
    this.#write(this.document(hash), bytes);
    this.#records[address] = { sha256: hash, ...validators };
    this.#write(join(this.#folder, "records.json"), JSON.stringify(this.#records, undefined, 1));
    return hash;
  }

  #write(file, bytes) {
    const part = `${file}.${process.pid}.tmp`;
    writeFileSync(part, bytes);
    renameSync(part, file);
  }

  /** Removes documents that are neither kept nor the last that was found somewhere. */
  prune(keep) {
    const kept = new Set([...keep, ...Object.values(this.#records).map((record) => record.sha256)]);
    const folder = join(this.#folder, "documents");
    for (const name of readdirSync(folder)) {
      if (/^[0-9a-f]{64}$/.test(name) && !kept.has(name)) rmSync(join(folder, name));
    }
  }
}
