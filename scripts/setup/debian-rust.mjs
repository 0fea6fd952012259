// Installs Debian's Rust, for machines that cannot reach rustup's servers.
//
// Debian's packages contain no compiled standard library for wasm32-unknown-unknown, only its source with all
// dependencies. So this script builds the library once, in under a minute.
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cache } from "../lib/paths.mjs";
import { Problem } from "../lib/problem.mjs";
import { run, tryRun, which } from "../lib/run.mjs";
import { task } from "../lib/status.mjs";
import { aptInstall, aptRefusal, asRoot } from "./apt.mjs";

/** The name of the file next to the built library that contains the version of its compiler. */
export const VERSION_STAMP = ".built-for";

const PACKAGES = ["rustc-web", "cargo-web", "rust-web-src", "rust-web-llvm", "rust-web-clippy", "rustfmt-web"];
const RUSTC = "/usr/bin/rustc";
const CARGO = "/usr/bin/cargo";

/** The reason why Debian's Rust cannot be installed here; undefined if it can. */
export function debianRefusal() {
  return aptRefusal();
}

async function runAsRoot(command, ...args) {
  const [program, programArgs] = asRoot(command, args);
  await run(program, programArgs);
}

function sourceFolder() {
  const folder = readdirSync("/usr/src").find((name) => /^rustc-\d/.test(name));
  if (!folder) throw new Problem("Debian's package rust-web-src contains no source of the standard library.");
  return join("/usr/src", folder, "library");
}

/** Builds the standard library for the target; returns the folder with its .rlib files. */
async function buildLibrary(target, work, detail) {
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  const library = join(work, "library");
  cpSync(sourceFolder(), library, { recursive: true, verbatimSymlinks: false });
  await run(CARGO, ["build", "--release", "-p", "sysroot", "--target", target], {
    cwd: library,
    detail,
    env: {
      RUSTC,
      RUSTC_BOOTSTRAP: "1",
      CARGO_ENCODED_RUSTFLAGS: undefined,
      RUSTFLAGS: "-Cembed-bitcode=yes -Zforce-unstable-if-unmarked",
      __CARGO_DEFAULT_LIB_METADATA: "stablestd",
      CARGO_TARGET_DIR: join(work, "target"),
    },
  });
  return join(work, "target", target, "release", "deps");
}

/** Moves the built library atomically to where the compiler looks for it. */
async function installLibrary(target, built, version) {
  const home = `/usr/lib/rustlib/${target}`;
  const staged = `${home}/lib.new-${process.pid}`;
  const stamp = join(built, VERSION_STAMP);
  writeFileSync(stamp, `${version}\n`);
  const files = readdirSync(built)
    .filter((file) => file.endsWith(".rlib"))
    .map((file) => join(built, file));
  await runAsRoot("mkdir", "-p", staged);
  await runAsRoot("cp", ...files, stamp, staged);
  await runAsRoot("rm", "-rf", `${home}/lib`);
  await runAsRoot("mv", "-T", staged, `${home}/lib`);
}

/** Links the linker for wasm32 to the name that rustc looks for. */
async function linkLinker(llvm) {
  const host = tryRun(RUSTC, ["-vV"]).out.match(/host: (\S+)/)?.[1];
  const bin = `/usr/lib/rustlib/${host}/bin`;
  if (existsSync(join(bin, "rust-lld"))) return;
  await runAsRoot("mkdir", "-p", bin);
  await runAsRoot("ln", "-sf", `/usr/bin/lld-${llvm}`, join(bin, "rust-lld"));
}

/** Installs Debian's Rust with a standard library for the target, and registers it with rustup as `debian`. */
export async function installDebian(target) {
  await task("Rust from Debian's packages", (detail) => aptInstall(PACKAGES, detail));
  const versionInfo = tryRun(RUSTC, ["-vV"]).out;
  const llvm = versionInfo.match(/LLVM version: (\d+)/)?.[1] ?? "22";
  await task(`linker lld-${llvm} from Debian's packages`, (detail) => aptInstall([`lld-${llvm}`], detail));
  await linkLinker(llvm);
  const version = tryRun(RUSTC, ["--version"]).out;
  const release = versionInfo.match(/release: (\S+)/)?.[1] ?? "unknown";
  const work = join(cache, `debian-rust-${release}.tmp-${process.pid}`);
  await task(`standard library of Rust ${release} for ${target}`, async (detail) => {
    await installLibrary(target, await buildLibrary(target, work, detail), version);
    rmSync(work, { recursive: true, force: true });
  });
  if (which("rustup")) await run("rustup", ["toolchain", "link", "debian", "/usr"]);
}
