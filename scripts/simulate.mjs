// `npm run simulate`: what a billion connections in many databases would be like. Prints the tables of docs/scaling.md.
import { parseArgs } from "node:util";
import { simulate } from "./simulate/model.mjs";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    connections: { type: "string", default: "1000000000" },
    accounts: { type: "string", default: "50000" },
    databases: { type: "string", default: "500,1000,2000" },
    weeks: { type: "string", default: "26" },
  },
});

const number = (value, digits = 0) =>
  value.toLocaleString("en", { maximumFractionDigits: digits, minimumFractionDigits: digits });
const percent = (share) => `${number(share * 100)} %`;
const ms = (wait, busy) => (busy >= 1 ? "no end" : `${number(wait, 1)} ms`);

const runs = values.databases.split(",").map((databases) => ({
  databases: Number(databases),
  ...simulate({
    seed: Number(values.seed),
    databases: Number(databases),
    connections: Number(values.connections),
    accounts: Number(values.accounts),
    exponent: 1,
    limit: 10e9,
    weeks: Number(values.weeks),
  }),
}));

/** A table of Markdown: a row of `rows` for each line, a column for each run. */
function table(rows) {
  console.log(`| databases | ${runs.map(({ databases }) => number(databases)).join(" | ")} |`);
  console.log(`|---|${runs.map(() => "---|").join("")}`);
  for (const [name, of] of rows) console.log(`| ${name} | ${runs.map(of).join(" | ")} |`);
  console.log("");
}

table([
  ["accounts larger than 80 % of a database", (run) => number(run.tooLarge)],
  ["moves until none is fuller than 80 %", (run) => number(run.movesAtFirst)],
  ["full then: half of them; the fullest", ({ placed }) => `${percent(placed.median)}; ${percent(placed.most)}`],
  [`the fullest after ${values.weeks} weeks`, ({ after }) => percent(after)],
  ["moves a week", (run) => number(run.movesAWeek, 1)],
  ["connections moved a week", (run) => number(run.movedAWeek)],
  ["renewals a second", (run) => number(run.renewalsASecond)],
  [
    "busy in the busiest hour: half of them; the busiest",
    ({ busy }) => `${percent(busy.median)}; ${percent(busy.most)}`,
  ],
  [
    "99th percentile of the wait behind other queries: half of them; the busiest",
    ({ waitMs, busy }) => `${ms(waitMs.median, busy.median)}; ${ms(waitMs.most, busy.most)}`,
  ],
]);

table([
  ["requests", ({ dollars }) => `$${number(dollars.requests)}`],
  ["D1 rows read", ({ dollars }) => `$${number(dollars.rowsRead)}`],
  ["D1 rows written", ({ dollars }) => `$${number(dollars.rowsWritten)}`],
  ["D1 storage", ({ dollars }) => `$${number(dollars.storage)}`],
  ["together, with the plan", ({ dollars }) => `$${number(Object.values(dollars).reduce((sum, one) => sum + one, 0))}`],
]);
