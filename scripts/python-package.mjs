// `npm run python -- generate`: writes what is generated of the Python package: the models from the OpenAPI document, and the
// synchronous client from the asynchronous one.
import { generate } from "./lib/python-package.mjs";
import { main, Problem } from "./lib/problem.mjs";

await main(async () => {
  const [command, ...rest] = process.argv.slice(2);
  if (command !== "generate" || rest.length > 0) throw new Problem("Use `npm run python -- generate`.");
  await generate();
});
