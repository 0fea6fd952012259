// `npm run advisories [-- FOLDER]`: whether a crate in one of the lock files has a vulnerability that RustSec knows of. FOLDER is a
// clone of github.com/rustsec/advisory-db, so that this works offline; without it, one is made. npm has `npm audit`.
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "./lib/paths.mjs";
import { main, Problem } from "./lib/problem.mjs";
import { run } from "./lib/run.mjs";
import { print } from "./lib/status.mjs";

const DATABASE = "https://github.com/rustsec/advisory-db";
const LOCKS = ["Cargo.lock", "tools/bindgen/Cargo.lock", "tools/fuzz/Cargo.lock"];
/** Kinds of advisories that tell of no vulnerability. */
const NOTICES = ["unmaintained", "notice"];

const numbers = (version) => version.split(/[-+]/)[0].split(".").map(Number);

/** Below 0 when version `a` comes before `b`. A version before a release comes before it. */
function compare(a, b) {
  const [left, right] = [numbers(a), numbers(b)];
  for (const at of [0, 1, 2]) if ((left[at] ?? 0) !== (right[at] ?? 0)) return (left[at] ?? 0) - (right[at] ?? 0);
  return Number(b.includes("-")) - Number(a.includes("-"));
}

/** Whether a version meets a requirement as RustSec writes them: `>= 1.2, < 2`, `^0.3.1`. */
export function meets(version, requirement) {
  return requirement.split(",").every((part) => {
    const [, sign, bound] = /^\s*(>=|<=|>|<|=|\^|~)?\s*(\S+)\s*$/.exec(part) ?? [];
    if (!bound) throw new Problem(`The requirement \`${requirement}\` can't be read.`);
    const order = compare(version, bound);
    if (sign === "^" || sign === undefined) {
      const [own, other] = [numbers(version), numbers(bound)];
      const first = other.findIndex((number) => number > 0);
      return (
        order >= 0 && other.slice(0, first < 0 ? other.length : first + 1).every((number, at) => own[at] === number)
      );
    }
    if (sign === "~")
      return (
        order >= 0 &&
        numbers(bound)
          .slice(0, 2)
          .every((number, at) => numbers(version)[at] === number)
      );
    return { ">=": order >= 0, "<=": order <= 0, ">": order > 0, "<": order < 0, "=": order === 0 }[sign];
  });
}

/** The crates of a lock file: [name, version]. */
const locked = (file) =>
  [...readFileSync(join(root, file), "utf8").matchAll(/^name = "(.+)"\nversion = "(.+)"\nsource = /gm)].map(
    ([, name, version]) => [name, version],
  );

/** What an advisory says. */
function advisory(text) {
  const texts = (member) =>
    [...(new RegExp(`^${member} = \\[([^\\]]*)\\]`, "m").exec(text)?.[1] ?? "").matchAll(/"([^"]+)"/g)].map(
      ([, one]) => one,
    );
  return {
    safe: [...texts("patched"), ...texts("unaffected")],
    isNotice: NOTICES.includes(/^informational = "(.+)"/m.exec(text)?.[1]),
    isWithdrawn: /^withdrawn = /m.test(text),
  };
}

/** The advisories that concern a crate of this version: those of vulnerabilities, and notices. */
function concerning(folder, name, version) {
  const own = join(folder, "crates", name);
  const files = existsSync(own) ? readdirSync(own).filter((file) => file.endsWith(".md")) : [];
  return files
    .map((file) => ({ id: file.replace(/\.md$/, ""), ...advisory(readFileSync(join(own, file), "utf8")) }))
    .filter(({ safe, isWithdrawn }) => !isWithdrawn && !safe.some((requirement) => meets(version, requirement)));
}

async function check(folder) {
  if (!existsSync(join(folder, "crates"))) throw new Problem(`${folder} is no clone of ${DATABASE}.`, { code: 2 });
  const found = [];
  for (const file of LOCKS) {
    const crates = locked(file);
    for (const [name, version] of crates)
      for (const { id, isNotice } of concerning(folder, name, version))
        found.push({ isNotice, text: `${file}: ${name} ${version}: ${id}${isNotice ? ", a notice" : ""}` });
    print(`${file}: ${crates.length} crates`);
  }
  for (const { text } of found) print(text);
  const bad = found.filter(({ isNotice }) => !isNotice);
  if (bad.length > 0) throw new Problem(`${bad.length} advisories tell of vulnerabilities.`);
  print(`no known vulnerability, ${found.length} notices`);
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  await main(async () => {
    const [given] = process.argv.slice(2);
    if (given) return check(given);
    const folder = mkdtempSync(join(tmpdir(), "advisories-"));
    try {
      await run("git", ["clone", "--depth", "1", "--quiet", DATABASE, folder], {
        hint: "Where GitHub is out of reach, name a folder with a clone.",
      });
      await check(folder);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
}
