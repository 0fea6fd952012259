// Proves a catalog against the documents that it was made from: what every action takes compiles, accepts the documents' own
// examples, and agrees with what another reader finds; and the service checks inputs as another validator does.
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";

// Some documents have more than the catalog keeps of an action, such as YouTube's 200 media types of an upload.
const MAX_DIFFERENT = 0.0002;
const MAX_REFUSED = 0.02;
// The service does not match a text with a pattern for which that may take too long.
const MAX_UNCHECKED = 0.001;
// The most characters of a line about one action.
const MAX_LINE = 200;
const COUNTS = ["actions", "withExamples", "examples", "compared", "invalid"];
const LISTS = ["faults", "refused", "differences", "disagreed"];

/** The documents of a catalog by platform, as the import's report lists them. */
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
 * @param {{ sample?: string[], tell?: (done: number) => void }} [options] `sample`: options of `catalog export`
 */
export async function prove(program, catalog, { sample = [], tell = () => {} } = {}) {
  const known = documents(catalog);
  const shares = Array.from({ length: availableParallelism() }, () => []);
  for (const [nth, platform] of Object.keys(known).entries()) shares[nth % shares.length].push(platform);
  let done = 0;
  const more = (count) => tell((done += count));
  const results = await Promise.all(
    shares.map((platforms) => share({ program, catalog, sample, documents: known, platforms }, more)),
  );
  const found = { platforms: Object.keys(known).length };
  for (const key of COUNTS) found[key] = results.reduce((sum, result) => sum + result[key], 0);
  for (const key of LISTS)
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
    worker.on("message", (said) => (said.done ? more(said.done) : resolve(said.found))).on("error", reject);
  });
}

const REASONS = {
  type: "a value of another type than is declared",
  enum: "a value that is not among those that are allowed",
  pattern: "a text that its pattern does not match",
  required: "an object without a member that is required",
  additionalProperties: "an object with a member that is not allowed",
};

/** Why examples are refused, each reason with the number of actions that have one, as lines of a table in Markdown. */
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
    "| where | the example is | refused by its document too | actions | such as |",
    "|---|---|---|---:|---|",
    ...rows.map(([key, { count, first }]) => `| ${key} | ${count} | \`${first}\` |`),
  ];
}

/** What was found, in lines, and whether it proves the catalog. */
export function judged(found) {
  const { platforms, actions, withExamples, examples, faults, refused, differences } = found;
  const { compared, invalid, disagreed, keywords } = found;
  // An example that its own document's schema refuses says nothing of the catalog.
  const isOurs = ({ refused }) => refused.some(({ isOwnFault }) => !isOwnFault);
  const ours = refused.filter(isOurs);
  const share = (count, of) => `${((100 * count) / Math.max(of, 1)).toFixed(2)} %`;
  const good = withExamples - refused.length;
  const lines = [
    `${actions} actions from ${platforms} documents`,
    `${actions - faults.length} inputs compile (${share(actions - faults.length, actions)})`,
    `${withExamples} actions have examples, ${examples} in all`,
    `${withExamples - ours.length} of them accept each, or their own document's schema refuses it too (${share(withExamples - ours.length, withExamples)})`,
    `  ${good} accept all (${share(good, withExamples)}); ${refused.length - ours.length} have one that their own document refuses`,
    `  ${ours.length} have one that only the input refuses (${share(ours.length, withExamples)})`,
    `${actions - differences.length} actions are what @apidevtools/swagger-parser reads (${share(actions - differences.length, actions)})`,
    `${compared} random inputs, of which ajv refuses ${invalid}: the service and ajv disagree on ${disagreed.length}`,
    "Inputs with each keyword of JSON Schema:",
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
