// Builds the npm package into npm/dist/ and checks its size.
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { encode } from "./lib/encode.mjs";
import { fingerprint, isStamped, stamp } from "./lib/fingerprint.mjs";
import { withLock } from "./lib/lock.mjs";
import { root } from "./lib/paths.mjs";
import { main, Problem } from "./lib/problem.mjs";
import { run } from "./lib/run.mjs";
import { log, task } from "./lib/status.mjs";
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
const stampFile = join(root, "target", "package.built-from");
const work = join(root, "target", "package");
const dist = join(root, "npm", "dist");
const WASM = "connector-vault.wasm";
// Replaces the encoded module while esbuild bundles. The module is inserted afterwards, because esbuild would split its string.
const PLACEHOLDER = '"<the module>"';
// Size limits in bytes, gzipped. `react.mjs` also loads `connect.mjs`.
const LIMITS = { "index.mjs": 72_000, [WASM]: 56_000, "connect.mjs": 6_000, "react.mjs": 3_000 };
// The modules of npm/src that replace the import "wasm", each for a different method of loading the WebAssembly module.
const WASM_SOURCES = { embedded: "core/wasm/embedded", compiled: "core/wasm/compiled", loaded: "core/wasm/loaded" };
// Entries that must not load WebAssembly, so that they work on pages whose Content-Security-Policy forbids it.
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
// The sources of the package's entry points. Their declarations are published, with everything that these import.
const ENTRIES = ["index", "slim", "browser/connect", "browser/react", `core/wasm/${WASM}`];
// The declaration file that the build generates from the platforms of providers.toml.
const PLATFORMS = "known-platforms";
const FILES = [
  ...BUNDLES.map(({ file }) => file),
  WASM,
  ...[...ENTRIES, PLATFORMS].flatMap((name) => [`${name}.d.mts`, `${name}.d.cts`]),
];
// The features that current browsers support. `wasm-opt` must not use newer ones.
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

// Matches functions that panic or only format panic messages.
const PANICS =
  /panic|_fail\b|unwrap_failed|expect_failed|handle_alloc_error|capacity_overflow|raw_vec::handle_error|fmt::Debug>::fmt/;

const gzippedSize = (name) => gzipSync(readFileSync(join(dist, name)), { level: 9 }).length;

/** Builds the package if its inputs changed; fails if it exceeds a size limit. */
export function buildPackage({ wasm }) {
  return withLock("package", "it is building the npm package", () => build(wasm));
}

/** Compiles the Rust part of the package if its inputs changed. Needs no npm packages, so it can run while they are installed. */
export function compilePackage({ wasm }) {
  return withLock("package", "it is building the npm package", async () => {
    if (!isStamped(stampFile, fingerprint(INPUTS, [JSON.stringify(wasm)])))
      await task("npm package compiled", (detail) => compilePackageModule(wasm, detail));
  });
}

const compilePackageModule = (wasm, detail) =>
  compile({ feature: "client", profile: "client", env: wasmCargoEnvironment(wasm, []), detail });

async function build(wasm) {
  const digest = fingerprint(INPUTS, [JSON.stringify(wasm)]);
  const isCurrent = isStamped(stampFile, digest) && FILES.every((name) => existsSync(join(dist, name)));
  if (!isCurrent) {
    // Removed first, because npm/dist/ contains no valid build if this is interrupted.
    rmSync(stampFile, { force: true });
    for (const folder of [dist, work]) rmSync(folder, { recursive: true, force: true });
    for (const folder of [dist, work]) mkdirSync(folder, { recursive: true });
    await task("npm package (wasm, release)", (detail) => assemble(wasm, detail));
    await Promise.all([bundle(), writeDeclarations()]);
    copyLicences();
  }
  checkSizes(isCurrent ? "; unchanged" : "");
  stamp(stampFile, digest);
}

/** Builds the WebAssembly module and its JavaScript glue. */
async function assemble(wasm, detail) {
  const module = await compilePackageModule(wasm, detail);
  await writeGlue("package", module, work);
  removeCompilation(join(work, "index.js"));
  await replacePanicsWithTraps(join(work, "index_bg.wasm"));
  await optimize(join(work, "index_bg.wasm"), join(dist, WASM), ["-Oz", "--converge", ...WASM_FEATURES]);
}

/** Removes the compilation step from the glue, because `core/wasm/start.ts` only passes compiled modules. */
function removeCompilation(file) {
  const compilationStep = /( *)if \(!\(module instanceof WebAssembly\.Module\)\) \{\n.*\n\1\}\n/;
  const glue = readFileSync(file, "utf8");
  if (!compilationStep.test(glue))
    throw new Problem(
      "The glue has no compilation step for scripts/build-package.mjs to remove: has wasm-bindgen changed?",
    );
  writeFileSync(file, glue.replace(compilationStep, ""));
}

/**
 * Replaces panic functions with a trap: the lints forbid panics, and nothing would read their messages. `wasm-opt` then removes
 * the code that only the messages need.
 */
async function replacePanicsWithTraps(file) {
  // Imported here, because the set-up may have installed the package just now.
  const { default: binaryen } = await import("binaryen");
  const module = binaryen.readBinary(readFileSync(file));
  const functions = Array.from({ length: module.getNumFunctions() }, (_, at) => module.getFunctionByIndex(at));
  const panicFunctions = functions.filter((reference) => {
    const { name, module: imported } = binaryen.getFunctionInfo(reference);
    return !imported && PANICS.test(name);
  });
  if (panicFunctions.length === 0)
    throw new Problem(
      "The module has no panic functions for scripts/build-package.mjs to replace: have their names changed?",
    );
  for (const reference of panicFunctions) binaryen.Function(reference).body = module.unreachable();
  writeFileSync(file, module.emitBinary());
  module.dispose();
}

/** Bundles each entry into one file. */
async function bundle() {
  // Imported here, because the set-up may have installed the package just now.
  const { build: esbuild } = await import("esbuild");
  const { frequent, text } = encode(readFileSync(join(dist, WASM)));
  const module = join(work, "module.js");
  writeFileSync(module, `export const frequent = ${JSON.stringify(frequent)};\nexport const text = ${PLACEHOLDER};\n`);
  const source = (name) => join(root, "npm", "src", `${name}.ts`);
  for (const { file, entry, wasm } of BUNDLES) {
    const outfile = join(dist, file);
    await esbuild({
      entryPoints: [source(entry)],
      outfile,
      format: file.endsWith(".cjs") ? "cjs" : "esm",
      bundle: true,
      minify: true,
      // Node prints the whole source line of an uncaught error, so keep lines short.
      lineLimit: 120,
      target: "es2022",
      alias: wasm ? { wasm: source(WASM_SOURCES[wasm]), glue: join(work, "index.js"), module } : {},
      external: [`./${WASM}`, "react"],
      ...(entry === "browser/react" && { banner: { js: '"use client";' }, plugins: [externalConnect(file.slice(-3))] }),
      absWorkingDir: root,
    });
    // Inserted after bundling, on its own line: `lineLimit` would split the string, which compresses worse.
    writeFileSync(
      outfile,
      readFileSync(outfile, "utf8")
        .replace(PLACEHOLDER, () => `\n"${text}"\n`)
        // esbuild removes the comments that make other bundlers ignore an import.
        .replace(/\bimport\((\w+\.wasm)\)/, "import(/* webpackIgnore: true */ /* @vite-ignore */ $1)")
        // The Edge Runtime of Next.js and Vercel imports compiled modules with `?module`.
        .replace(`"./${WASM}"`, (path) => (file === "edge-light.mjs" ? `"./${WASM}?module"` : path)),
    );
  }
}

/** Keeps connect.mjs a separate file, so that both entries share their error classes. */
const externalConnect = (system) => ({
  name: "external connect",
  setup: ({ onResolve }) =>
    onResolve({ filter: /^\.\/connect\.js$/ }, () => ({ path: `./connect.${system}`, external: true })),
});

/** Generates the type that lets editors complete the platforms of providers.toml. */
function platformTypes() {
  const names = readFileSync(join(root, "providers.toml"), "utf8").matchAll(/^\[platforms\.([\w-]+)\]$/gm);
  const union = [...names].map(([, name]) => `\n  | ${JSON.stringify(name)}`).join("");
  return `/** A well-known platform. The catalog has many more. */\nexport type KnownPlatform =${union};\n`;
}

/** Writes the declarations of the entries and of everything they import, for each module system. */
async function writeDeclarations() {
  const types = join(work, "types");
  mkdirSync(types, { recursive: true });
  writeFileSync(join(work, `${PLATFORMS}.d.ts`), platformTypes());
  writeFileSync(join(work, "module.d.ts"), "export const frequent: readonly number[];\nexport const text: string;\n");
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  await run("node", [tsc, "--project", join(root, "npm", "src")]);
  copyFileSync(join(work, `${PLATFORMS}.d.ts`), join(types, `${PLATFORMS}.d.ts`));
  const declared = new Set(ENTRIES);
  // The loop also visits the names that it adds.
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

function copyLicences() {
  for (const name of ["LICENSE-APACHE", "LICENSE-MIT"]) copyFileSync(join(root, name), join(root, "npm", name));
}

function checkSizes(note) {
  const kb = (bytes) => `${(bytes / 1000).toFixed(1)} KB`;
  const sizes = Object.keys(LIMITS).map((name) => [name, gzippedSize(name)]);
  const lines = sizes.map(([name, size]) => `${name} ${kb(size)} of ${kb(LIMITS[name])}`);
  log(`npm package, gzipped: ${lines.join(", ")}; slim.mjs ${kb(gzippedSize("slim.mjs"))}${note}.`);
  for (const { file } of BUNDLES.filter(({ wasm }) => !wasm)) {
    if (readFileSync(join(dist, file), "utf8").includes("WebAssembly"))
      throw new Problem(`${file} uses WebAssembly, which this entry must not do.`);
  }
  for (const [name, size] of sizes) {
    if (size > LIMITS[name])
      throw new Problem(`${name} exceeds its limit of ${kb(LIMITS[name])} gzipped by ${kb(size - LIMITS[name])}.`);
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await main(async () => buildPackage(await setup()));
}
