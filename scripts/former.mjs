// `npm run former -- [COMMIT] [--test PATTERN]`: runs the native tests of an earlier commit, and so its service, on the
// tables of this one: what an earlier Worker meets after a rollback. By default it is the commit before the last migration.
import { cpSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { root } from "./lib/paths.mjs";
import { main, Problem } from "./lib/problem.mjs";
import { ask, run } from "./lib/run.mjs";
import { print, task } from "./lib/status.mjs";
import { setup } from "./setup.mjs";

const FOLDER = join(root, "target", "former");
const SOURCE = join(FOLDER, "source");
/** What the earlier commit says of its own tables. */
const OWN = ["migrations::"];

await main(async () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { test: { type: "string", multiple: true, default: [] } },
  });
  if (positionals.length > 1) throw new Problem("`npm run former` takes one commit.", { code: 2 });
  const added = ask("git", ["log", "--first-parent", "--diff-filter=A", "--format=%H", "-1", "--", "migrations"]).out;
  const name = positionals[0] ?? `${added}^`;
  const { ok, out: commit } = ask("git", ["rev-parse", "--verify", "--short", `${name}^{commit}`]);
  if (!ok) throw new Problem(`There is no commit \`${name}\`.`, { code: 2, hint: "This needs the whole history." });
  await setup();
  rmSync(SOURCE, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  await run("git", ["clone", "--quiet", root, SOURCE]);
  await run("git", ["checkout", "--quiet", commit], { cwd: SOURCE });
  rmSync(join(SOURCE, "migrations"), { recursive: true });
  cpSync(join(root, "migrations"), join(SOURCE, "migrations"), { recursive: true });
  // What is built of that must never be taken for what is built of this.
  const env = { CARGO_TARGET_DIR: join(FOLDER, "build") };
  const skipped = OWN.flatMap((pattern) => ["--skip", pattern]);
  const args = ["test", "--features", "cli", "--test", "api", "--", ...values.test, ...skipped];
  const said = await task(`the tests of ${commit} on today's tables`, (detail) =>
    run("cargo", args, { cwd: SOURCE, env, detail }),
  );
  print(/^test result: .*$/m.exec(said)[0]);
});
