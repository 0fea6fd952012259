// Verifies some platforms of a catalog, in a thread of prove.mjs.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { parentPort, workerData } from "node:worker_threads";
import { Document } from "./document.mjs";
import { Inputs } from "./inputs.mjs";
import { keywords } from "./keywords.mjs";
import { differences } from "./reader.mjs";
import { ValidationComparer } from "./validation-comparer.mjs";

const REPORT_EVERY = 500;
const { program, catalog, sample, documents, platforms } = workerData;
const found = {
  ...{ actions: 0, faults: [], withExamples: 0, examples: 0, refused: [], differences: [] },
  ...{ compared: 0, invalid: 0, disagreed: [], keywords: {} },
};
const verdicts = new ValidationComparer(program);

const child = spawn(program, ["catalog", "export", "--catalog", catalog, ...sample, ...platforms], {
  stdio: ["ignore", "pipe", "inherit"],
});
const ended = new Promise((resolve, reject) => child.on("error", reject).on("close", resolve));
let connector;
let document;
let inputs;
for await (const line of createInterface({ input: child.stdout, crlfDelay: Number.POSITIVE_INFINITY })) {
  const { connector: next, action } = JSON.parse(line);
  if (next) {
    connector = next;
    document = await Document.read(documents[next.platform]);
    inputs = new Inputs({ isAlone: sample.length > 0 });
  } else await prove(action);
}
verdicts.end();
if ((await ended) !== 0) throw new Error("`catalog export` failed");
parentPort.postMessage({ found });

async function prove(action) {
  const name = `${action.platform}/${action.key}`;
  found.actions += 1;
  if (found.actions % REPORT_EVERY === 0) parentPort.postMessage({ done: REPORT_EVERY });
  for (const keyword of keywords(action.input)) found.keywords[keyword] = (found.keywords[keyword] ?? 0) + 1;
  const operation = document.operation(action);
  const { fault, examples, refused, validate } = inputs.check(document, operation, action);
  if (fault) found.faults.push({ name, why: fault });
  else {
    const { compared, invalid, disagreed } = await verdicts.compare(name, action.input, validate);
    found.compared += compared;
    found.invalid += invalid;
    found.disagreed.push(...disagreed.map((verdict) => ({ name, ...verdict })));
  }
  if (examples > 0) {
    found.withExamples += 1;
    found.examples += examples;
    if (refused.length > 0) found.refused.push({ name, refused });
  }
  const all = differences(document, operation, action, connector);
  if (all.length > 0) found.differences.push({ name, why: all.join("; ") });
}
