// The API reference at /docs and the pages about error codes, on the real runtime. Every code sample and example is
// run, and the pages are checked in both themes.
import { after, before } from "node:test";
import { Reference } from "./support/reference.mjs";
import { referenceInBrowser } from "./suites/reference-browser.mjs";
import { problemExamples } from "./suites/reference-problems.mjs";
import { referenceSamples } from "./suites/reference-samples.mjs";

const fixture = {};

before(async () => {
  fixture.reference = await Reference.start();
});
after(() => fixture.reference?.stop());

referenceSamples(fixture);
referenceInBrowser(fixture);
problemExamples(fixture);
