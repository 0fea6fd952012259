// Verifies a catalog against its documents: every input compiles, accepts the documents' examples, and agrees with another OpenAPI
// parser; and the service validates inputs as another validator does.
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";

// The allowed shares of differences and of rejected examples: the catalog limits the size of an action, which some documents
// exceed, such as YouTube's with 200 media types of an upload.
const MAX_DIFFERENT = 0.0002;
const MAX_REFUSED = 0.02;
// The allowed share of values that only the service accepts: it skips patterns that could take too long to match.
const MAX_UNCHECKED = 0.001;
// The maximum length of a line about an action.
const MAX_LINE = 200;
const COUNT_NAMES = ["actions", "withExamples", "examples", "compared", "invalid"];
const LIST_NAMES = ["faults", "refused", "differences", "disagreed"];

/** The documents of a catalog by platform, from the import's report. */
function documents(catalog) {
  const report = readFileSync(join(catalog, "report.txt"), "utf8");
  const [, listed] = report.split(/^imported: \d+\n/m);
  const lines = listed.trimEnd().split("\n");
  return Object.fromEntries(
    lines.map((line) =>
      line
        .trim()
        .match(/^(.*): (\S+)$/)
        .slice(1)
        .reverse(),
    ),
  );
}

/**
 * @param {string} program the operator's command line
 * @param {string} catalog the folder
 * @param {{ sample?: string[], report?: (done: number) => void }} [options] `sample`: options of `catalog export`
 */
export async function prove(program, catalog, { sample = [], report = () => {} } = {}) {
  const known = documents(catalog);
  const shares = Array.from({ length: availableParallelism() }, () => []);
  for (const [index, platform] of Object.keys(known).entries()) shares[index % shares.length].push(platform);
  let done = 0;
  const addDone = (count) => report((done += count));
  const results = await Promise.all(
    shares.map((platforms) => share({ program, catalog, sample, documents: known, platforms }, addDone)),
  );
  const found = { platforms: Object.keys(known).length };
  for (const key of COUNT_NAMES) found[key] = results.reduce((sum, result) => sum + result[key], 0);
  for (const key of LIST_NAMES)
    found[key] = results.flatMap((result) => result[key]).sort((a, b) => (a.name < b.name ? -1 : 1));
  const keywords = {};
  for (const [keyword, count] of results.flatMap((result) => Object.entries(result.keywords)))
    keywords[keyword] = (keywords[keyword] ?? 0) + count;
  found.keywords = Object.fromEntries(Object.entries(keywords).sort(([, one], [, other]) => other - one));
  return found;
}

function share(workerData, more) {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL("worker.mjs", import.meta.url), { workerData });
    worker.on("message", (output) => (output.done ? more(output.done) : resolve(output.found))).on("error", reject);
  });
}

const REASONS = {
  type: "a value of a different type than declared",
  enum: "a value that is not among those that are allowed",
  pattern: "a string that its pattern does not match",
  required: "an object without a member that is required",
  additionalProperties: "an object with a member that is not allowed",
};

/** The reasons for rejected examples with the number of actions, as rows of a Markdown table. */
export function reasons({ refused }) {
  const counts = new Map();
  for (const { name, refused: all } of refused) {
    const [{ at, keyword, isOwnFault }] = all.toSorted((one, other) => one.isOwnFault - other.isOwnFault);
    const place = at.startsWith("body") ? "body" : "parameter";
    const reason = REASONS[keyword] ?? "a value beyond its limits";
    const key = `${place} | ${reason} | ${isOwnFault ? "yes" : "no"}`;
    const { count = 0, first = name } = counts.get(key) ?? {};
    counts.set(key, { count: count + 1, first });
  }
  const rows = [...counts].sort(([, one], [, other]) => other.count - one.count);
  return [
    "| where | the example is | also rejected by its document | actions | such as |",
    "|---|---|---|---:|---|",
    ...rows.map(([key, { count, first }]) => `| ${key} | ${count} | \`${first}\` |`),
  ];
}

/** Formats the results as lines, and decides whether the catalog passes. */
export function summarize(found) {
  const { platforms, actions, withExamples, examples, faults, refused, differences } = found;
  const { compared, invalid, disagreed, keywords } = found;
  // An example that the document's schema also rejects does not count against the catalog.
  const isOurs = ({ refused }) => refused.some(({ isOwnFault }) => !isOwnFault);
  const ours = refused.filter(isOurs);
  const share = (count, of) => `${((100 * count) / Math.max(of, 1)).toFixed(2)} %`;
  const accepted = withExamples - refused.length;
  const lines = [
    `${actions} actions from ${platforms} documents`,
    `${actions - faults.length} inputs compile (${share(actions - faults.length, actions)})`,
    `${withExamples} actions have examples, ${examples} in total`,
    `${withExamples - ours.length} of them accept all, or their own document's schema also rejects them (${share(withExamples - ours.length, withExamples)})`,
    `  ${accepted} accept all (${share(accepted, withExamples)}); ${refused.length - ours.length} have one that their own document rejects`,
    `  ${ours.length} have one that only the input rejects (${share(ours.length, withExamples)})`,
    `${actions - differences.length} actions are equal to those of @apidevtools/swagger-parser (${share(actions - differences.length, actions)})`,
    `${compared} random inputs, of which ajv rejects ${invalid}: the service and ajv disagree on ${disagreed.length}`,
    "Number of inputs by JSON Schema keyword:",
    ...Object.entries(keywords).map(([keyword, count]) => `  ${keyword} ${count}`),
    ...[...faults, ...differences].slice(0, 20).map(({ name, why }) => `  ${name}: ${why}`),
    ...ours.slice(0, 20).map(({ name, refused: [{ at, why }] }) => `  ${name}: ${at}: ${why}`),
    ...disagreed.slice(0, 20).map(({ name, value, isTaken }) => {
      const verb = isTaken ? "takes" : "refuses";
      return `  ${name}: only the service ${verb} ${JSON.stringify(value)}`;
    }),
  ];
  const isProven =
    faults.length === 0 &&
    differences.length <= MAX_DIFFERENT * actions &&
    ours.length <= MAX_REFUSED * withExamples &&
    disagreed.every(({ isTaken }) => isTaken) &&
    disagreed.length <= MAX_UNCHECKED * compared;
  return { lines: lines.map((line) => line.slice(0, MAX_LINE)), isProven };
}
