// Downloads a document over HTTP. Resumes an interrupted download if the server supports it and the document is unchanged.
import { closeSync, existsSync, openSync, readFileSync, rmSync, statSync, writeFileSync, writeSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { gunzipSync } from "node:zlib";
import { MAX_BYTES } from "./cache.mjs";

/** The default limits of a download: `stallTimeoutMs` without data, `totalMs` in total, the pause between attempts, and the size. */
const LIMITS = { stallTimeoutMs: 30_000, totalMs: 300_000, attempts: 3, pauseMs: 500, maxBytes: MAX_BYTES };
const MAX_REDIRECTS = 5;
const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** A failure after which a retry may succeed. */
class TemporaryError extends Error {}

/**
 * @param {string} address
 * @param {import("./cache.mjs").Cache} cache
 * @param {{ signal?: AbortSignal } & Partial<typeof LIMITS>} [options]
 * @returns {Promise<string>} the hash of the document in the cache
 */
export async function download(address, cache, { signal, ...limits } = {}) {
  const effectiveLimits = { ...LIMITS, ...limits };
  const deadline = Date.now() + effectiveLimits.totalMs;
  for (let attempt = 1; ; attempt++) {
    try {
      return await tryDownload(address, cache, { ...effectiveLimits, deadline, signal });
    } catch (error) {
      const isLast = attempt >= effectiveLimits.attempts || signal?.aborted || Date.now() >= deadline;
      if (!(error instanceof TemporaryError) || isLast) throw error;
      await sleep(effectiveLimits.pauseMs * attempt);
    }
  }
}

async function tryDownload(address, cache, limits) {
  const record = cache.record(address);
  const partial = cache.partial(address);
  const interrupted = interruptedDownload(partial);
  const headers = { "accept-encoding": "identity", "user-agent": "connector-vault" };
  if (record?.etag) headers["if-none-match"] = record.etag;
  else if (record?.lastModified) headers["if-modified-since"] = record.lastModified;
  if (interrupted) Object.assign(headers, { range: `bytes=${interrupted.bytes}-`, "if-range": interrupted.validator });
  const watch = watchdog(limits);
  try {
    const response = await follow(address, headers, watch.signal);
    watch.restart();
    if (response.status === 304 && record) {
      removePartialFiles(partial);
      await response.body?.cancel();
      return record.sha256;
    }
    if (response.status === 416 && interrupted) {
      removePartialFiles(partial);
      throw new TemporaryError("the server does not resume an interrupted download");
    }
    const isContinuation = response.status === 206 && interrupted && rangeStart(response) === interrupted.bytes;
    if (response.status !== 200 && !isContinuation) {
      await response.body?.cancel();
      const isTemporary = response.status >= 500 || response.status === 429 || response.status === 206;
      if (response.status === 206) removePartialFiles(partial);
      throw new (isTemporary ? TemporaryError : Error)(`the server responded with ${response.status}`);
    }
    const size = await save(response, partial, isContinuation ? interrupted.bytes : 0, limits, watch);
    let bytes = readFileSync(partial.file);
    if (bytes.length !== size) throw new TemporaryError("the download was written to by another run");
    removePartialFiles(partial);
    if (new URL(address).pathname.endsWith(".gz")) bytes = gunzipSync(bytes, { maxOutputLength: limits.maxBytes });
    const etag = response.headers.get("etag") ?? undefined;
    const lastModified = response.headers.get("last-modified") ?? undefined;
    return cache.keep(address, bytes, { etag, lastModified });
  } catch (error) {
    if (watch.reason) throw new TemporaryError(watch.reason);
    if (error instanceof TemporaryError || !isFetchError(error)) throw error;
    const reason = error.cause?.code ?? error.cause?.message ?? error.message;
    // Not retried without a network: DNS lookups fail, and retries would only delay the error.
    throw new (reason === "ENOTFOUND" ? Error : TemporaryError)(`the server could not be reached: ${reason}`);
  } finally {
    watch.stop();
  }
}

/** Whether an error comes from `fetch`: a TypeError with a cause. */
const isFetchError = (error) => error instanceof TypeError || error.cause !== undefined || error.name === "AbortError";

/** Aborts a download that exceeds a timeout. */
function watchdog({ stallTimeoutMs, deadline, signal }) {
  const controller = new AbortController();
  const watch = { signal: controller.signal, reason: undefined };
  const stop = (why) => {
    watch.reason ??= why;
    controller.abort();
  };
  const onAbort = () => stop("there was no time left");
  signal?.addEventListener("abort", onAbort);
  if (signal?.aborted) onAbort();
  const total = setTimeout(() => stop("the download takes too long"), Math.max(0, deadline - Date.now()));
  let silenceTimer;
  watch.restart = () => {
    clearTimeout(silenceTimer);
    silenceTimer = setTimeout(() => stop(`the server sent nothing for ${stallTimeoutMs / 1000} s`), stallTimeoutMs);
  };
  watch.stop = () => {
    clearTimeout(silenceTimer);
    clearTimeout(total);
    signal?.removeEventListener("abort", onAbort);
  };
  watch.restart();
  return watch;
}

/** Follows redirects. Fails if one leads from https to http. */
async function follow(address, headers, signal) {
  let url = new URL(address);
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const response = await fetch(url, { headers, redirect: "manual", signal });
    const location = response.headers.get("location");
    if (response.status < 300 || response.status > 399 || response.status === 304 || !location) return response;
    await response.body?.cancel();
    const target = new URL(location, url);
    const isSafe = target.protocol === "https:" || (url.protocol === "http:" && LOOPBACK.has(target.hostname));
    if (!isSafe) throw new Error(`the server redirects to ${target.origin}, which is not https`);
    url = target;
  }
  throw new Error(`the server redirects more than ${MAX_REDIRECTS} times`);
}

/** Writes a response to a file, starting at this position. Returns the size of the file. */
async function save(response, partial, from, { maxBytes }, watch) {
  const isUncompressed = ["", "identity"].includes(response.headers.get("content-encoding") ?? "");
  const length = Number(response.headers.get("content-length") ?? Number.NaN);
  if (isUncompressed && from + length > maxBytes) {
    await response.body?.cancel();
    throw new Error(`the document is larger than ${maxBytes >> 20} MiB`);
  }
  const validator = strongValidator(response);
  if (isUncompressed && validator) writeFileSync(partial.note, JSON.stringify({ validator }));
  else rmSync(partial.note, { force: true });
  const file = openSync(partial.file, from > 0 ? "a" : "w");
  let size = from;
  try {
    for await (const chunk of response.body ?? []) {
      watch.restart();
      size += chunk.length;
      if (size > maxBytes) throw new Error(`the document is larger than ${maxBytes >> 20} MiB`);
      writeSync(file, chunk);
    }
  } finally {
    closeSync(file);
  }
  if (isUncompressed && !Number.isNaN(length) && size !== from + length) {
    throw new TemporaryError(`the download ended after ${size} of ${from + length} bytes`);
  }
  return size;
}

/** The validator with which these bytes can be requested again: a strong ETag, or else the time of the last change. */
function strongValidator(response) {
  const etag = response.headers.get("etag");
  if (etag) return etag.startsWith("W/") ? undefined : etag;
  return response.headers.get("last-modified") ?? undefined;
}

const rangeStart = (response) => Number(/^bytes (\d+)-/.exec(response.headers.get("content-range") ?? "")?.[1]);

/** The beginning of an interrupted download: its size and validator; undefined if it can't be resumed. */
function interruptedDownload({ file, note }) {
  if (!existsSync(file) || !existsSync(note)) return undefined;
  const bytes = statSync(file).size;
  try {
    const { validator } = JSON.parse(readFileSync(note, "utf8"));
    return bytes > 0 && validator ? { bytes, validator } : undefined;
  } catch {
    return undefined;
  }
}

function removePartialFiles({ file, note }) {
  for (const path of [file, note]) rmSync(path, { force: true });
}
