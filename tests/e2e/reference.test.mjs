// The API reference at /docs and the pages about problems, on the real runtime: every code sample and every example is
// run, and what a browser shows is looked at in both themes.
import { after, before } from "node:test";
import { Reference } from "./support/reference.mjs";
import { referenceInBrowser } from "./suites/reference-browser.mjs";
import { problemExamples } from "./suites/reference-problems.mjs";
import { referenceSamples } from "./suites/reference-samples.mjs";

const world = {};

before(async () => {
  world.reference = await Reference.start();
});
after(() => world.reference?.stop());

referenceSamples(world);
referenceInBrowser(world);
problemExamples(world);
