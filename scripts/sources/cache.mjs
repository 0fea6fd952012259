// The cache of downloaded documents. Files are named by their hash, records.json maps each URL to its latest document, and
// partial/ has interrupted downloads.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The maximum size of a document, in bytes, as in the importer. */
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
      // If records.json is missing or damaged, everything is downloaded again.
      return {};
    }
  }

  document(hash) {
    return join(this.#folder, "documents", hash);
  }

  /** The record of a URL: { sha256, etag, lastModified }; undefined if its document is not in the cache. */
  record(address) {
    const record = this.#records[address];
    return record && existsSync(this.document(record.sha256)) ? record : undefined;
  }

  /** The files of an interrupted download of a URL. */
  partial(address) {
    const file = join(this.#folder, "partial", sha256(address));
    return { file, note: `${file}.json` };
  }

  /** Stores a document. Returns its hash. */
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

  /** Removes documents whose hash is neither in `keep` nor in a record. */
  prune(keep) {
    const keptHashes = new Set([...keep, ...Object.values(this.#records).map((record) => record.sha256)]);
    const folder = join(this.#folder, "documents");
    for (const name of readdirSync(folder)) {
      if (/^[0-9a-f]{64}$/.test(name) && !keptHashes.has(name)) rmSync(join(folder, name));
    }
  }
}
