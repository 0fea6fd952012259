// Downloads one document by HTTP. An interrupted download goes on where it ended, if the server can do that and still has
// the same document.
import { closeSync, existsSync, openSync, readFileSync, rmSync, statSync, writeFileSync, writeSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { gunzipSync } from "node:zlib";
import { MAX_BYTES } from "./cache.mjs";

/** How long a server may say nothing, and how long a download may take in all. */
const LIMITS = { silentMs: 30_000, totalMs: 300_000, attempts: 3, pauseMs: 500, maxBytes: MAX_BYTES };
const MAX_REDIRECTS = 5;
const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** A failure that another attempt may not have. */
class Passing extends Error {}

/**
 * @param {string} address
 * @param {import("./cache.mjs").Cache} cache
 * @param {{ signal?: AbortSignal } & Partial<typeof LIMITS>} [options]
 * @returns {Promise<string>} the hash of the document in the cache
 */
export async function download(address, cache, { signal, ...limits } = {}) {
  const given = { ...LIMITS, ...limits };
  const end = Date.now() + given.totalMs;
  for (let attempt = 1; ; attempt++) {
    try {
      return await once(address, cache, { ...given, end, signal });
    } catch (error) {
      const isLast = attempt >= given.attempts || signal?.aborted || Date.now() >= end;
      if (!(error instanceof Passing) || isLast) throw error;
      await sleep(given.pauseMs * attempt);
    }
  }
}

async function once(address, cache, limits) {
  const record = cache.record(address);
  const partial = cache.partial(address);
  const begun = beginning(partial);
  const headers = { "accept-encoding": "identity", "user-agent": "connector-vault" };
  if (record?.etag) headers["if-none-match"] = record.etag;
  else if (record?.lastModified) headers["if-modified-since"] = record.lastModified;
  if (begun) Object.assign(headers, { range: `bytes=${begun.bytes}-`, "if-range": begun.validator });
  const watch = watchdog(limits);
  try {
    const response = await follow(address, headers, watch.signal);
    watch.heard();
    if (response.status === 304 && record) {
      forget(partial);
      await response.body?.cancel();
      return record.sha256;
    }
    if (response.status === 416 && begun) {
      forget(partial);
      throw new Passing("the server does not go on with an interrupted download");
    }
    const isRest = response.status === 206 && begun && rangeStart(response) === begun.bytes;
    if (response.status !== 200 && !isRest) {
      await response.body?.cancel();
      const isPassing = response.status >= 500 || response.status === 429 || response.status === 206;
      if (response.status === 206) forget(partial);
      throw new (isPassing ? Passing : Error)(`the server answered ${response.status}`);
    }
    const size = await save(response, partial, isRest ? begun.bytes : 0, limits, watch);
    let bytes = readFileSync(partial.file);
    if (bytes.length !== size) throw new Passing("the download was written to by another run");
    forget(partial);
    if (new URL(address).pathname.endsWith(".gz")) bytes = gunzipSync(bytes, { maxOutputLength: limits.maxBytes });
    const etag = response.headers.get("etag") ?? undefined;
    const lastModified = response.headers.get("last-modified") ?? undefined;
    return cache.keep(address, bytes, { etag, lastModified });
  } catch (error) {
    if (watch.reason) throw new Passing(watch.reason);
    if (error instanceof Passing || !isOfNetwork(error)) throw error;
    const why = error.cause?.code ?? error.cause?.message ?? error.message;
    // Without a network, no name is known, and nobody should wait to hear it again.
    throw new (why === "ENOTFOUND" ? Error : Passing)(`the server could not be reached: ${why}`);
  } finally {
    watch.stop();
  }
}

/** Whether an error is one of `fetch`, which are TypeErrors with a cause. */
const isOfNetwork = (error) => error instanceof TypeError || error.cause !== undefined || error.name === "AbortError";

/** Ends a download that takes too long. */
function watchdog({ silentMs, end, signal }) {
  const controller = new AbortController();
  const watch = { signal: controller.signal, reason: undefined };
  const stop = (why) => {
    watch.reason ??= why;
    controller.abort();
  };
  const stopped = () => stop("there was no time left");
  signal?.addEventListener("abort", stopped);
  if (signal?.aborted) stopped();
  const total = setTimeout(() => stop("the download takes too long"), Math.max(0, end - Date.now()));
  let silence;
  watch.heard = () => {
    clearTimeout(silence);
    silence = setTimeout(() => stop(`the server said nothing for ${silentMs / 1000} s`), silentMs);
  };
  watch.stop = () => {
    clearTimeout(silence);
    clearTimeout(total);
    signal?.removeEventListener("abort", stopped);
  };
  watch.heard();
  return watch;
}

/** Follows redirects, each to an address that is as safe as the first one. */
async function follow(address, headers, signal) {
  let url = new URL(address);
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const response = await fetch(url, { headers, redirect: "manual", signal });
    const location = response.headers.get("location");
    if (response.status < 300 || response.status > 399 || response.status === 304 || !location) return response;
    await response.body?.cancel();
    const next = new URL(location, url);
    const isSafe = next.protocol === "https:" || (url.protocol === "http:" && LOOPBACK.has(next.hostname));
    if (!isSafe) throw new Error(`the server redirects to ${next.origin}, which is not https`);
    url = next;
  }
  throw new Error(`the server redirects more than ${MAX_REDIRECTS} times`);
}

/** Writes an answer to a file, from this position on; gives the size of the whole. */
async function save(response, partial, from, { maxBytes }, watch) {
  const isPlain = ["", "identity"].includes(response.headers.get("content-encoding") ?? "");
  const length = Number(response.headers.get("content-length") ?? Number.NaN);
  if (isPlain && from + length > maxBytes) {
    await response.body?.cancel();
    throw new Error(`the document is larger than ${maxBytes >> 20} MiB`);
  }
  const validator = strong(response);
  if (isPlain && validator) writeFileSync(partial.note, JSON.stringify({ validator }));
  else rmSync(partial.note, { force: true });
  const file = openSync(partial.file, from > 0 ? "a" : "w");
  let size = from;
  try {
    for await (const chunk of response.body ?? []) {
      watch.heard();
      size += chunk.length;
      if (size > maxBytes) throw new Error(`the document is larger than ${maxBytes >> 20} MiB`);
      writeSync(file, chunk);
    }
  } finally {
    closeSync(file);
  }
  if (isPlain && !Number.isNaN(length) && size !== from + length) {
    throw new Passing(`the download ended after ${size} of ${from + length} bytes`);
  }
  return size;
}

/** What identifies exactly these bytes: a strong ETag, or else the time of the last change. */
function strong(response) {
  const etag = response.headers.get("etag");
  if (etag) return etag.startsWith("W/") ? undefined : etag;
  return response.headers.get("last-modified") ?? undefined;
}

const rangeStart = (response) => Number(/^bytes (\d+)-/.exec(response.headers.get("content-range") ?? "")?.[1]);

/** How far an interrupted download went; undefined if it can't go on. */
function beginning({ file, note }) {
  if (!existsSync(file) || !existsSync(note)) return undefined;
  const bytes = statSync(file).size;
  try {
    const { validator } = JSON.parse(readFileSync(note, "utf8"));
    return bytes > 0 && validator ? { bytes, validator } : undefined;
  } catch {
    return undefined;
  }
}

function forget({ file, note }) {
  for (const path of [file, note]) rmSync(path, { force: true });
}
