// `npm run lab -- simulate`: simulates a billion connections in many databases. Prints the tables of docs/scaling.md.
import { parseArgs } from "node:util";
import { main, Problem } from "../scripts/lib/problem.mjs";
import { simulate } from "./simulate/model.mjs";

const DEFAULTS = { seed: "1", connections: "1000000000", accounts: "50000", databases: "500,1000,2000", weeks: "26" };

/** The options, as integers; `databases` is a list. */
function options() {
  const entries = Object.entries(DEFAULTS).map(([name, usual]) => [name, { type: "string", default: usual }]);
  const { values } = parseArgs({ options: Object.fromEntries(entries) });
  const positiveInteger = (name, text) => {
    const value = Number(text);
    if (!Number.isSafeInteger(value) || value < 1) throw new Problem(`--${name} takes a whole number, not "${text}".`);
    return value;
  };
  const read = ([name, text]) => [
    name,
    name === "databases" ? text.split(",").map((one) => positiveInteger(name, one)) : positiveInteger(name, text),
  ];
  return Object.fromEntries(Object.entries(values).map(read));
}

const number = (value, digits = 0) =>
  value.toLocaleString("en", { maximumFractionDigits: digits, minimumFractionDigits: digits });
const percent = (share) => `${number(share * 100)} %`;
const ms = (wait, busy) => (busy >= 1 ? "no end" : `${number(wait, 1)} ms`);

/** Prints a Markdown table with a line for each of `rows` and a column for each run. */
function table(runs, rows) {
  console.log(`| databases | ${runs.map(({ databases }) => number(databases)).join(" | ")} |`);
  console.log(`|---|${runs.map(() => "---|").join("")}`);
  for (const [name, of] of rows) console.log(`| ${name} | ${runs.map(of).join(" | ")} |`);
  console.log("");
}

await main(async () => {
  const { databases: numbers, weeks, ...settings } = options();
  const runs = numbers.map((databases) => ({
    databases,
    ...simulate({ ...settings, databases, weeks, exponent: 1, limit: 10e9 }),
  }));

  table(runs, [
    ["accounts larger than 80 % of a database", (run) => number(run.tooLarge)],
    ["moves until none is fuller than 80 %", (run) => number(run.movesAtFirst)],
    ["full then: half of them; the fullest", ({ placed }) => `${percent(placed.median)}; ${percent(placed.most)}`],
    [`the fullest after ${weeks} weeks`, ({ after }) => percent(after)],
    ["moves a week", (run) => number(run.movesPerWeek, 1)],
    ["connections moved a week", (run) => number(run.movedAWeek)],
    ["refreshes a second", (run) => number(run.refreshesASecond)],
    [
      "busy in the busiest hour: half of them; the busiest",
      ({ busy }) => `${percent(busy.median)}; ${percent(busy.most)}`,
    ],
    [
      "99th percentile of the wait behind other queries: half of them; the busiest",
      ({ waitMs, busy }) => `${ms(waitMs.median, busy.median)}; ${ms(waitMs.most, busy.most)}`,
    ],
  ]);

  table(runs, [
    ["requests", ({ dollars }) => `$${number(dollars.requests)}`],
    ["D1 rows read", ({ dollars }) => `$${number(dollars.rowsRead)}`],
    ["D1 rows written", ({ dollars }) => `$${number(dollars.rowsWritten)}`],
    ["D1 storage", ({ dollars }) => `$${number(dollars.storage)}`],
    [
      "together, with the plan",
      ({ dollars }) => `$${number(Object.values(dollars).reduce((sum, one) => sum + one, 0))}`,
    ],
  ]);
  return 0;
});
