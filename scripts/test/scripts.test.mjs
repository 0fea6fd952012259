// The scripts' own parts that can be tried by themselves.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { decode, encode } from "../../npm/src/embedded.js";
import { wasmToolEnvironment } from "../build-worker.mjs";
import { locked } from "../lib/lock.mjs";
import { root, state } from "../lib/paths.mjs";
import { options } from "../start/options.mjs";
import { ensureSessionSecret } from "../start/session-secret.mjs";

describe("a lock", () => {
  let folder;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "connector-vault-locks-"));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  const lock = (body) => locked("work", "it works", body, folder);
  /** A process that takes the lock, says so, and keeps it until its standard input ends. */
  const other = () =>
    spawn(process.execPath, ["--input-type=module", "-e", `
      import { locked } from ${JSON.stringify(join(root, "scripts", "lib", "lock.mjs"))};
      await locked("work", "it works", async () => {
        console.log("taken");
        process.stdin.resume();
        await new Promise((done) => process.stdin.on("end", done));
      }, ${JSON.stringify(folder)});
    `], { stdio: ["pipe", "pipe", "inherit"] });

  test("is gone after the work, also when that fails", async () => {
    assert.equal(await lock(async () => 1), 1);
    await assert.rejects(lock(async () => Promise.reject(new Error("broken"))), /broken/);
    assert.deepEqual(readdirSync(folder), []);
  });

  test("keeps another process waiting", async () => {
    const child = other();
    await once(child.stdout, "data");
    let ran = false;
    const mine = lock(async () => {
      ran = true;
    });
    await new Promise((done) => setTimeout(done, 500));
    assert.equal(ran, false);
    child.stdin.end();
    await mine;
    assert.equal(ran, true);
  });

  test("of a killed process is taken over", async () => {
    const child = other();
    await once(child.stdout, "data");
    child.kill("SIGKILL");
    await once(child, "exit");
    assert.ok(existsSync(join(folder, "work")));
    assert.equal(await lock(async () => 2), 2);
    assert.deepEqual(readdirSync(folder), []);
  });

  test("that nobody can have written is taken over", async () => {
    for (const text of ["", "nonsense", "0", "-1", String(spawnSync("true").pid)]) {
      writeFileSync(join(folder, "work"), text);
      assert.equal(await lock(async () => 3), 3, text);
    }
  });
});

test("local storage is where wrangler has it", () => {
  assert.deepEqual(options([]), { port: 8787, host: "localhost", state, place: ["--local", "--persist-to", state] });
  assert.equal(state, join(root, ".wrangler", "state"));
  assert.equal(options(["--persist-to", "elsewhere"]).state, join(root, "elsewhere"));
  assert.equal(options(["--persist-to=/tmp/x y"]).state, "/tmp/x y");
});

test("a secret that signs tokens is made once, beside what is there", () => {
  const folder = mkdtempSync(join(tmpdir(), "connector-vault-secret-"));
  const file = join(folder, ".dev.vars");
  const text = () => readFileSync(file, "utf8");
  ensureSessionSecret(folder);
  const first = text();
  assert.match(first, /^SESSION_SECRET=[\w-]{43}\n$/);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  ensureSessionSecret(folder);
  assert.equal(text(), first);
  for (const [before, isThere] of [["A=1", false], ["A=1\n# SESSION_SECRET=x\n", false], ["SESSION_SECRET_PREVIOUS=x\n", false], ["A=1\nexport SESSION_SECRET = 'x'\n", true]]) {
    writeFileSync(file, before);
    ensureSessionSecret(folder);
    assert.equal(text() === before, isThere, before);
    assert.equal(text().split("\n").filter((line) => /^(export )?SESSION_SECRET ?=/.test(line)).length, 1, before);
    assert.ok(text().startsWith(before));
  }
  rmSync(folder, { recursive: true });
});

test("rustc's flags survive a space in a folder's name", () => {
  const { RUSTFLAGS, CARGO_ENCODED_RUSTFLAGS } = wasmToolEnvironment({});
  assert.equal(RUSTFLAGS, undefined);
  const flags = CARGO_ENCODED_RUSTFLAGS.split("\x1f");
  assert.equal(flags[0], "-Ctarget-feature=+simd128");
  assert.equal(flags.at(-1), `--remap-path-prefix=${root}=.`);
});

test("bytes that are embedded as text come back", () => {
  const all = Uint8Array.from({ length: 256 }, (_, byte) => byte);
  for (const bytes of [new Uint8Array(), Uint8Array.of(0), new Uint8Array(1000), all, Uint8Array.from([...all, ...all.slice(200).reverse(), ...all])]) {
    const written = encode(bytes);
    assert.match(written.text, /^[ #-[\]-~]*$/, "nothing that needs an escape");
    assert.deepEqual(decode(written), bytes);
  }
});
