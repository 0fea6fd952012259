// Downloads documents into a cache, for `npm run catalog -- fetch`, which checks them. Downloads are never executed.
//
//   node scripts/sources/download.mjs
//
// Standard input is JSON: { cache, within, keep, addresses }. `cache` is the folder, `within` the number of seconds after
// which downloads stop (null: none), `keep` the hashes of documents that stay in the cache even if no address has them any more.
// Each line of standard output is the result of one address, printed as soon as it is known:
//
//   { "address": …, "sha256": … }    the document is in the cache, as documents/<sha256>
//   { "address": …, "error": … }     the download failed
import { text } from "node:stream/consumers";
import { main } from "../lib/problem.mjs";
import { task } from "../lib/status.mjs";
import { Cache } from "./cache.mjs";
import { download } from "./http.mjs";
import { packageJobs } from "./packages.mjs";

const MAX_CONCURRENT_DOWNLOADS = 8;

/** Runs `work` on all items, at most `limit` at a time. */
async function forEachConcurrently(items, limit, work) {
  const rest = [...items];
  const worker = async () => {
    for (let item = rest.shift(); item !== undefined; item = rest.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(limit, rest.length) }, worker));
}

await main(async () => {
  const { cache: folder, within, keep, addresses } = JSON.parse(await text(process.stdin));
  const cache = new Cache(folder);
  const signal = within === null ? undefined : AbortSignal.timeout(within * 1000);
  const jobs = [
    ...addresses
      .filter((address) => /^https?:/.test(address))
      .map((address) => async (report) => report(address, () => download(address, cache, { signal }))),
    ...packageJobs(addresses, cache, { signal }),
  ];
  await task("documents of sources.toml", async (detail) => {
    let finished = 0;
    const report = async (address, get) => {
      const output = { address };
      try {
        output.sha256 = await get();
      } catch (error) {
        output.error = signal?.aborted ? "there was no time left" : error.message;
      }
      process.stdout.write(`${JSON.stringify(output)}\n`);
      finished += 1;
      detail(`${finished} of ${addresses.length}`);
    };
    await forEachConcurrently(jobs, MAX_CONCURRENT_DOWNLOADS, (job) => job(report));
  });
  cache.prune(keep);
});
