// `npm run lab -- NAME [options]`: runs a benchmark, a proof or another experiment. Without a name, lists them.
//
// Experiments can use npm packages that the product does not need. lab/package.json lists them, and this script installs them.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { main, Problem } from "../scripts/lib/problem.mjs";
import { print } from "../scripts/lib/status.mjs";
import { installNpmPackages } from "../scripts/setup/npm-packages.mjs";
import { EXPERIMENTS } from "./experiments.mjs";

await main(async () => {
  const [name, ...options] = process.argv.slice(2);
  if (name === undefined || name === "--help") {
    const width = Math.max(...Object.keys(EXPERIMENTS).map((each) => each.length));
    print("npm run lab -- NAME [options]\n");
    for (const [each, what] of Object.entries(EXPERIMENTS)) print(`  ${each.padEnd(width)}  ${what}`);
    return 0;
  }
  if (!(name in EXPERIMENTS)) {
    const names = Object.keys(EXPERIMENTS).join(", ");
    throw new Problem(`Unknown experiment \`${name}\`.`, { hint: `Experiments: ${names}.`, code: 2 });
  }
  await installNpmPackages();
  await installNpmPackages(import.meta.dirname);
  const file = join(import.meta.dirname, `${name}.mjs`);
  process.argv = [process.argv[0], file, ...options];
  await import(pathToFileURL(file).href);
  return process.exitCode;
});
