// Builds the npm package into npm/dist/ and checks its size.
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { encode } from "./lib/encode.mjs";
import { fingerprint, isStamped, stamp } from "./lib/fingerprint.mjs";
import { locked } from "./lib/lock.mjs";
import { root } from "./lib/paths.mjs";
import { main, Problem } from "./lib/problem.mjs";
import { run } from "./lib/run.mjs";
import { say, task } from "./lib/status.mjs";
import { compile, optimize, wasmCargoEnvironment, writeGlue } from "./lib/wasm.mjs";
import { setup } from "./setup.mjs";

const INPUTS = [
  "src",
  "npm/src",
  "npm/package.json",
  "Cargo.toml",
  "Cargo.lock",
  "package-lock.json",
  "providers.toml",
  "tools/bindgen/Cargo.lock",
  "tools/bindgen/src",
  "scripts/build-package.mjs",
  "scripts/lib/encode.mjs",
  "scripts/lib/wasm.mjs",
];
const built = join(root, "target", "package.built-from");
const work = join(root, "target", "package");
const dist = join(root, "npm", "dist");
const WASM = "connector-vault.wasm";
// Stands for the module's text while esbuild works.
const TEXT = '"<the module>"';
// Bytes, gzipped. What React needs comes on top of what `connect.mjs` weighs.
const LIMITS = { "index.mjs": 70_000, [WASM]: 53_000, "connect.mjs": 6_000, "react.mjs": 3_000 };
// The modules of npm/src that "wasm" can stand for: each gets the WebAssembly module from elsewhere.
const WASM_SOURCES = { embedded: "core/wasm/embedded", compiled: "core/wasm/compiled", loaded: "core/wasm/loaded" };
// Entries that must not load WebAssembly: they also work on pages whose Content-Security-Policy forbids it.
const WITHOUT_WASM = ["connect", "react"];
const BUNDLES = [
  { file: "index.mjs", entry: "index", wasm: "embedded" },
  { file: "index.cjs", entry: "index", wasm: "embedded" },
  { file: "workerd.mjs", entry: "index", wasm: "compiled" },
  { file: "edge-light.mjs", entry: "index", wasm: "compiled" },
  { file: "slim.mjs", entry: "slim", wasm: "loaded" },
  { file: "slim.cjs", entry: "slim", wasm: "loaded" },
  ...WITHOUT_WASM.flatMap((name) =>
    ["mjs", "cjs"].map((system) => ({ file: `${name}.${system}`, entry: `browser/${name}` })),
  ),
];
// The sources of the package's entry points. Their declarations are published, with all that those import.
const ENTRIES = ["index", "slim", "browser/connect", "browser/react", `core/wasm/${WASM}`];
// A generated declaration: the platforms of providers.toml.
const PLATFORMS = "known-platforms";
const FILES = [
  ...BUNDLES.map(({ file }) => file),
  WASM,
  ...[...ENTRIES, PLATFORMS].flatMap((name) => [`${name}.d.mts`, `${name}.d.cts`]),
];
// What every engine has that a web app meets today; `wasm-opt` must bring in nothing newer.
const WASM_FEATURES = [
  ...[
    "bulk-memory",
    "bulk-memory-opt",
    "call-indirect-overlong",
    "multivalue",
    "mutable-globals",
    "nontrapping-float-to-int",
  ],
  ...["reference-types", "sign-ext"],
].map((feature) => `--enable-${feature}`);

// Functions that panic, and those that only their messages call.
const PANICS =
  /panic|_fail\b|unwrap_failed|expect_failed|handle_alloc_error|capacity_overflow|raw_vec::handle_error|fmt::Debug>::fmt/;

const gzipped = (name) => gzipSync(readFileSync(join(dist, name)), { level: 9 }).length;

/** Builds when something changed; fails when the package has grown too large. */
export function buildPackage({ wasm }) {
  return locked("package", "it builds the npm package", () => build(wasm));
}

/** Compiles what `buildPackage` will need, if anything changed: that part needs no package of npm. */
export function compilePackage({ wasm }) {
  return locked("package", "it builds the npm package", async () => {
    if (!isStamped(built, fingerprint(INPUTS, [JSON.stringify(wasm)])))
      await task("npm package compiled", (detail) => compileTo(wasm, detail));
  });
}

const compileTo = (wasm, detail) =>
  compile({ feature: "client", profile: "client", env: wasmCargoEnvironment(wasm, []), detail });

async function build(wasm) {
  const wanted = fingerprint(INPUTS, [JSON.stringify(wasm)]);
  const isCurrent = isStamped(built, wanted) && FILES.every((name) => existsSync(join(dist, name)));
  if (!isCurrent) {
    // Whatever interrupts this, what lies in npm/dist/ then is no build of anything.
    rmSync(built, { force: true });
    for (const folder of [dist, work]) rmSync(folder, { recursive: true, force: true });
    for (const folder of [dist, work]) mkdirSync(folder, { recursive: true });
    await task("npm package (wasm, release)", (detail) => assemble(wasm, detail));
    await Promise.all([bundle(), declare()]);
    licences();
  }
  check(isCurrent ? "; unchanged" : "");
  stamp(built, wanted);
}

/** The WebAssembly module and the JavaScript that goes with it. */
async function assemble(wasm, detail) {
  const module = await compileTo(wasm, detail);
  await writeGlue("package", module, work);
  leaveCompiling(join(work, "index.js"));
  await silencePanics(join(work, "index_bg.wasm"));
  await optimize(join(work, "index_bg.wasm"), join(dist, WASM), ["-Oz", "--converge", ...WASM_FEATURES]);
}

/** Takes out that the glue compiles what is no module of its own realm: `core/wasm/start.ts` starts compiled modules only. */
function leaveCompiling(file) {
  const compiles = /( *)if \(!\(module instanceof WebAssembly\.Module\)\) \{\n.*\n\1\}\n/;
  const glue = readFileSync(file, "utf8");
  if (!compiles.test(glue)) throw new Problem("The glue compiles nothing that scripts/build-package.mjs takes out.");
  writeFileSync(file, glue.replace(compiles, ""));
}

/**
 * Lets whatever tells of a panic trap at once: no panic is left to tell of, the lints see to that, and nobody would read it.
 * What only the messages need is then dropped by `wasm-opt`.
 */
async function silencePanics(file) {
  // Imported here: before the set-up there may be no such package.
  const { default: binaryen } = await import("binaryen");
  const module = binaryen.readBinary(readFileSync(file));
  const functions = Array.from({ length: module.getNumFunctions() }, (_, at) => module.getFunctionByIndex(at));
  const silenced = functions.filter((one) => {
    const { name, module: imported } = binaryen.getFunctionInfo(one);
    return !imported && PANICS.test(name);
  });
  if (silenced.length === 0)
    throw new Problem("The module has no panic that scripts/build-package.mjs silences: have their names changed?");
  for (const one of silenced) binaryen.Function(one).body = module.unreachable();
  writeFileSync(file, module.emitBinary());
  module.dispose();
}

/** The JavaScript of each entry, in one file. */
async function bundle() {
  // Imported here: before the set-up there may be no such package.
  const { build: esbuild } = await import("esbuild");
  const { frequent, text } = encode(readFileSync(join(dist, WASM)));
  const module = join(work, "module.js");
  writeFileSync(module, `export const frequent = ${JSON.stringify(frequent)};\nexport const text = ${TEXT};\n`);
  const source = (name) => join(root, "npm", "src", `${name}.ts`);
  for (const { file, entry, wasm } of BUNDLES) {
    const outfile = join(dist, file);
    await esbuild({
      entryPoints: [source(entry)],
      outfile,
      format: file.endsWith(".cjs") ? "cjs" : "esm",
      bundle: true,
      minify: true,
      // An error that nobody catches makes Node print the line that it comes from.
      lineLimit: 120,
      target: "es2022",
      alias: wasm ? { wasm: source(WASM_SOURCES[wasm]), glue: join(work, "index.js"), module } : {},
      external: [`./${WASM}`, "react"],
      ...(entry === "browser/react" && { banner: { js: '"use client";' }, plugins: [besideIt(file.slice(-3))] }),
      absWorkingDir: root,
    });
    // Afterwards, on a line of its own: the limit would break it into pieces, and they are larger.
    writeFileSync(
      outfile,
      readFileSync(outfile, "utf8")
        .replace(TEXT, () => `\n"${text}"\n`)
        // esbuild drops the comments by which bundlers leave an import alone.
        .replace(/\bimport\((\w+\.wasm)\)/, "import(/* webpackIgnore: true */ /* @vite-ignore */ $1)")
        // How the Edge Runtime of Next.js and Vercel imports a compiled module.
        .replace(`"./${WASM}"`, (path) => (file === "edge-light.mjs" ? `"./${WASM}?module"` : path)),
    );
  }
}

/** Leaves the module to connect outside, so that both have the same errors. */
const besideIt = (system) => ({
  name: "beside it",
  setup: ({ onResolve }) =>
    onResolve({ filter: /^\.\/connect\.js$/ }, () => ({ path: `./connect.${system}`, external: true })),
});

/** The platforms that editors complete: those of providers.toml. */
function platformTypes() {
  const names = readFileSync(join(root, "providers.toml"), "utf8").matchAll(/^\[platforms\.([\w-]+)\]$/gm);
  const union = [...names].map(([, name]) => `\n  | ${JSON.stringify(name)}`).join("");
  return `/** A well-known platform. The catalog has many more. */\nexport type KnownPlatform =${union};\n`;
}

/** Writes the declarations of the entries and of all that they import, for each module system. */
async function declare() {
  const types = join(work, "types");
  mkdirSync(types, { recursive: true });
  writeFileSync(join(work, `${PLATFORMS}.d.ts`), platformTypes());
  writeFileSync(join(work, "module.d.ts"), "export const frequent: readonly number[];\nexport const text: string;\n");
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  await run("node", [tsc, "--project", join(root, "npm", "src")]);
  copyFileSync(join(work, `${PLATFORMS}.d.ts`), join(types, `${PLATFORMS}.d.ts`));
  const declared = new Set(ENTRIES);
  // The set grows while it is iterated over.
  for (const name of declared) {
    const toRoot = relative(dirname(name), ".") || ".";
    const declaration = readFileSync(join(types, `${name}.d.ts`), "utf8").replaceAll(
      `"${PLATFORMS}"`,
      `"${toRoot}/${PLATFORMS}.js"`,
    );
    for (const [, path] of declaration.matchAll(/ from "(\..+)\.js"/g)) declared.add(join(dirname(name), path));
    mkdirSync(dirname(join(dist, name)), { recursive: true });
    for (const system of ["m", "c"]) {
      const adapted = declaration.replace(/(?<= from "\..+)\.js"/g, `.${system}js"`);
      writeFileSync(join(dist, `${name}.d.${system}ts`), adapted);
    }
  }
}

/** The package's licences. */
function licences() {
  for (const name of ["LICENSE-APACHE", "LICENSE-MIT"]) copyFileSync(join(root, name), join(root, "npm", name));
}

function check(note) {
  const kb = (bytes) => `${(bytes / 1000).toFixed(1)} KB`;
  const sizes = Object.keys(LIMITS).map((name) => [name, gzipped(name)]);
  const told = sizes.map(([name, size]) => `${name} ${kb(size)} of ${kb(LIMITS[name])}`);
  say(`npm package, gzipped: ${told.join(", ")}; slim.mjs ${kb(gzipped("slim.mjs"))}${note}.`);
  for (const { file } of BUNDLES.filter(({ wasm }) => !wasm)) {
    if (readFileSync(join(dist, file), "utf8").includes("WebAssembly"))
      throw new Problem(`${file} contains what loads WebAssembly.`);
  }
  for (const [name, size] of sizes) {
    if (size > LIMITS[name])
      throw new Problem(`${name} is ${kb(size - LIMITS[name])} over its limit of ${kb(LIMITS[name])} gzipped.`);
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await main(async () => buildPackage(await setup()));
}
