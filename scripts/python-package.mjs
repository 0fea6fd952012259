// `npm run python -- generate`: generates the models of the Python package from the OpenAPI document, adds the methods and
// arguments that its asynchronous client lacks, and generates the synchronous one from it.
import { generate } from "./lib/python-package.mjs";
import { main, Problem } from "./lib/problem.mjs";

await main(async () => {
  const [command, ...rest] = process.argv.slice(2);
  if (command !== "generate" || rest.length > 0) throw new Problem("Use `npm run python -- generate`.");
  await generate();
});
