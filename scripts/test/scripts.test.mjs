// Unit tests of the scripts.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  unwatchFile,
  utimesSync,
  watchFile,
  writeFileSync,
} from "node:fs";
import { constants, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { decode } from "../../npm/src/core/wasm/decode.ts";
import { loadLogos } from "../../www/logos.ts";
import { encode } from "../lib/encode.mjs";
import { withLock } from "../lib/lock.mjs";
import { root, state } from "../lib/paths.mjs";
import { Problem } from "../lib/problem.mjs";
import { run } from "../lib/run.mjs";
import { captureLog, detailOf, log } from "../lib/status.mjs";
import { wasmCargoEnvironment } from "../lib/wasm.mjs";
import { options } from "../start/options.mjs";
import { RequestLogFilter } from "../start/request-log.mjs";
import { ensureSecrets, watchSecrets } from "../start/secrets.mjs";
import { Steps } from "./steps.mjs";

describe("a signal", () => {
  const lib = (name) => JSON.stringify(join(root, "scripts", "lib", name));
  const CHILD = `
    process.on("SIGTERM", () => setImmediate(() => process.exit()));
    console.log(process.pid);
    setInterval(() => {}, 1e6);
  `;
  const SCRIPT = `
    import { main } from ${lib("problem.mjs")};
    import { run } from ${lib("run.mjs")};
    await main(() => run(process.execPath, ["-e", ${JSON.stringify(CHILD)}], { show: true }));
  `;
  let script;
  before(() => {
    script = join(mkdtempSync(join(tmpdir(), "connector-vault-signals-")), "script.mjs");
    writeFileSync(script, SCRIPT);
  });
  after(() => rmSync(dirname(script), { recursive: true, force: true }));

  /** Starts a program, and sends it a signal when the child of the script runs. Returns [code, signal] when all have ended. */
  async function runAndSignal(program, args, signal, onExit) {
    const started = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] });
    const [ended, exited] = [once(started, "close"), once(started, "exit")];
    const child = Number(await once(started.stdout.setEncoding("utf8"), "data"));
    started.kill(signal);
    await exited;
    onExit?.(child);
    return ended;
  }

  test("ends the child of a script, then the script", async () => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
      const ended = await runAndSignal(process.execPath, [script], signal, (child) =>
        assert.throws(() => process.kill(child, 0), { code: "ESRCH" }),
      );
      assert.deepEqual(ended, [128 + constants.signals[signal], null], signal);
    }
  });

  test("ends a command that npm runs in a shell", { timeout: 60_000 }, async () => {
    await runAndSignal("npm", ["exec", "--offline", "--call", `"${process.execPath}" "${script}"; true`], "SIGTERM");
  });
});

describe("a lock", () => {
  let folder;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "connector-vault-locks-"));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  const lock = (body) => withLock("work", "it works", body, folder);
  /** Starts a process that acquires the lock, reports that, and releases the lock when its standard input ends. */
  const startLockHolder = () =>
    spawn(
      process.execPath,
      [
        "--input-type=module",
        "-e",
        `
      import { withLock } from ${JSON.stringify(join(root, "scripts", "lib", "lock.mjs"))};
      await withLock("work", "it works", async () => {
        console.log("taken");
        process.stdin.resume();
        await new Promise((done) => process.stdin.on("end", done));
      }, ${JSON.stringify(folder)});
    `,
      ],
      { stdio: ["pipe", "pipe", "inherit"] },
    );

  test("is released after the work, even if it fails", async () => {
    assert.equal(await lock(async () => 1), 1);
    await assert.rejects(
      lock(async () => Promise.reject(new Error("broken"))),
      /broken/,
    );
    assert.deepEqual(readdirSync(folder), []);
  });

  test("makes another process wait", async () => {
    const child = startLockHolder();
    await once(child.stdout, "data");
    let hasRun = false;
    const ownWork = lock(async () => {
      hasRun = true;
    });
    await new Promise((done) => setTimeout(done, 500));
    assert.equal(hasRun, false);
    child.stdin.end();
    await ownWork;
    assert.equal(hasRun, true);
  });

  test("is replaced if its process was killed", async () => {
    const child = startLockHolder();
    await once(child.stdout, "data");
    child.kill("SIGKILL");
    await once(child, "exit");
    assert.ok(existsSync(join(folder, "work")));
    assert.equal(await lock(async () => 2), 2);
    assert.deepEqual(readdirSync(folder), []);
  });

  test("is replaced if its content is invalid", async () => {
    for (const text of ["", "nonsense", "0", "-1", String(spawnSync("true").pid)]) {
      writeFileSync(join(folder, "work"), text);
      assert.equal(await lock(async () => 3), 3, text);
    }
  });
});

test("a full disk replaces the hint of the caller", async () => {
  const runFailing = (text) =>
    run("node", ["--eval", `console.error(${JSON.stringify(text)}); process.exit(228)`], { hint: "Ask the registry." });
  for (const text of ["npm error code ENOSPC", "error: No space left on device (os error 28)"]) {
    await assert.rejects(runFailing(text), ({ hint }) => hint.startsWith("The disk is full."));
  }
  await assert.rejects(runFailing("npm error code ENOTFOUND"), ({ hint }) => hint === "Ask the registry.");
});

test("local storage is in wrangler's folder", () => {
  assert.deepEqual(options([]), {
    args: [],
    log: false,
    hasDemo: true,
    hasSources: true,
    demoPort: undefined,
    shards: undefined,
    port: 8787,
    host: "localhost",
    state,
    storageArgs: ["--local", "--persist-to", state],
  });
  assert.equal(state, join(root, ".wrangler", "state"));
  assert.equal(options(["--persist-to", "elsewhere"]).state, join(root, "elsewhere"));
  assert.equal(options(["--persist-to=/tmp/x y"]).state, "/tmp/x y");
});

test("npm start does not pass --shards to wrangler, and requires a number", () => {
  for (const ownArgs of [["--shards", "3"], ["--shards=3"]]) {
    const { args, shards } = options([...ownArgs, "--port", "9000"]);
    assert.deepEqual({ args, shards }, { args: ["--port", "9000"], shards: "3" });
  }
  for (const invalidArgs of [["--shards"], ["--shards", "0"], ["--shards=many"]])
    assert.throws(() => options(invalidArgs), /number/);
});

test("npm start passes all options except its own to wrangler dev", () => {
  const { args, log, port } = options(["--port", "9000", "--log", "--log-level", "debug"]);
  assert.deepEqual({ args, log, port }, { args: ["--port", "9000", "--log-level", "debug"], log: true, port: 9000 });
});

test("npm start does not pass --demo-port and --no-demo to wrangler", () => {
  for (const ownArgs of [["--demo-port", "9001"], ["--demo-port=9001"]]) {
    const { args, demoPort, hasDemo } = options([...ownArgs, "--port", "9000"]);
    assert.deepEqual({ args, demoPort, hasDemo }, { args: ["--port", "9000"], demoPort: 9001, hasDemo: true });
  }
  for (const invalidArgs of [["--demo-port"], ["--demo-port", "--log"], ["--demo-port="], ["--demo-port", "70000"]])
    assert.throws(() => options(invalidArgs), /--demo-port takes a number from 1 to 65535/);
  assert.deepEqual([options(["--no-demo"]).hasDemo, options(["--no-demo"]).args], [false, []]);
  assert.deepEqual([options([]).hasSources, options(["--no-sources"]).hasSources], [true, false]);
  assert.deepEqual(options(["--no-sources"]).args, []);
});

test("--port requires a number", () => {
  for (const invalidArgs of [["--port"], ["--log", "--port"], ["--port", "--log"], ["--port="], ["--port", "x"]])
    assert.throws(() => options(invalidArgs), /--port takes a number from 1 to 65535/);
});

test("--help prints the options without building or sending anything", () => {
  for (const [script, option] of [
    ["start", "--persist-to DIR"],
    ["deploy", "--dry-run"],
  ]) {
    for (const requested of ["--help", "-h"]) {
      const { status, stdout, stderr } = spawnSync(
        process.execPath,
        [join(root, "scripts", `${script}.mjs`), requested],
        {
          encoding: "utf8",
        },
      );
      assert.deepEqual([status, stderr], [0, ""], script);
      assert.ok(stdout.startsWith(`Usage: npm ${script === "start" ? "start" : "run deploy"} -- [options]\n`), stdout);
      assert.ok(stdout.includes(option) && stdout.includes("passed to wrangler"), stdout);
    }
  }
});

test("an unknown option is reported without a stack", () => {
  const load = spawnSync(process.execPath, [join(root, "lab", "load.mjs"), "--minuts", "1"], { encoding: "utf8" });
  assert.deepEqual([load.status, load.stdout, load.stderr], [2, "", "✗ Unknown option '--minuts'.\n"]);
});

test("only lines of successful requests are removed", () => {
  const keptLines = [
    "[wrangler:info] Ready on http://localhost:8787",
    "[wrangler:info] GET /v1/whoami 503 Service Unavailable (12ms)",
    "✘ [ERROR] GET /v1/whoami 200 OK (12ms)",
    "⎔ Reloading local server...",
    "",
  ];
  const removedLines = [
    "[wrangler:info] GET /v1/whoami?a=b%20c 200 OK (12ms)",
    "\u001b[34m[wrangler:info]\u001b[39m POST / \u001b[32m404 Not Found\u001b[39m (0ms)",
    "[wrangler:info] HEAD / 304 Not Modified (1ms)",
  ];
  const text = [...keptLines.slice(0, 2), ...removedLines, ...keptLines.slice(2)].map((line) => `${line}\n`).join("");
  for (const size of [1, 7, text.length]) {
    const filter = new RequestLogFilter();
    let printed = "";
    for (let at = 0; at < text.length; at += size) printed += filter.take(text.slice(at, at + size));
    assert.equal(printed, keptLines.map((line) => `${line}\n`).join(""));
    assert.equal(filter.take("[wrangler:info] Ready"), "");
    assert.equal(filter.end(), "[wrangler:info] Ready");
  }
});

test("duplicate and misleading messages of wrangler are removed", () => {
  const bindings = ["Your Worker has access to the following bindings:", "env.VAULT  D1 Database", ""];
  const warning = [
    "\u001b[33m▲ [WARNING]\u001b[0m Scheduled Workers are not automatically triggered during local development.",
    "",
    '    curl "http://localhost:8787/cdn-cgi/local/scheduled"',
    "  For more details, see https://developers.cloudflare.com/",
  ];
  const toText = (lines) => lines.map((line) => `${line}\n`).join("");
  const filter = new RequestLogFilter();
  const printed = filter.take(toText([...bindings, "Starting", ...bindings, ...warning, "Ready", ...bindings]));
  assert.equal(printed, toText([...bindings, "Starting", "Ready"]));
});

test("missing secrets are added once to the existing file", async () => {
  const folder = mkdtempSync(join(tmpdir(), "connector-vault-secret-"));
  const file = join(folder, ".dev.vars");
  const text = () => readFileSync(file, "utf8");
  const ensure = () => captureLog(async () => ensureSecrets(folder));
  const names = ["SESSION_SECRET", "VAULT_KEYS"];
  const output = (name) => new RegExp(`Generated ${name}, which .* in \\.dev\\.vars\\.`);
  const message = await ensure();
  for (const name of names) assert.match(message, output(name));
  const first = text();
  assert.match(first, /^SESSION_SECRET=[\w-]{43}\nVAULT_KEYS="local-[\da-f]{8}:[\w+/]{43}="\n$/);
  for (const [, secret] of first.matchAll(/[=:]"?([\w+/-]{43})/g)) assert.ok(!message.includes(secret));
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.equal(await ensure(), "");
  assert.equal(text(), first);
  for (const [before, existingNames] of [
    ["A=1", []],
    ["A=1\n# SESSION_SECRET=x\n#VAULT_KEYS=x", []],
    ["SESSION_SECRET_PREVIOUS=x\nMY_VAULT_KEYS=x\n", []],
    ["A=1\nexport SESSION_SECRET = 'x'\n", ["SESSION_SECRET"]],
    [" VAULT_KEYS =\nA=1", ["VAULT_KEYS"]],
    ["VAULT_KEYS=x\nSESSION_SECRET=x", names],
  ]) {
    writeFileSync(file, before);
    const message = await ensure();
    for (const name of names) {
      assert.equal(output(name).test(message), !existingNames.includes(name), before);
      const lines = text().match(new RegExp(`^ ?(export )?${name} ?=`, "gm"));
      assert.equal(lines.length, 1, before);
    }
    assert.ok(text().startsWith(before));
  }
  rmSync(folder, { recursive: true });
});

test("the progress of a nested task is shown without its name and time", () => {
  assert.equal(detailOf("  … documents of sources.toml: 2.0 s (26 of 437)"), "26 of 437");
  assert.equal(detailOf("  … documents of sources.toml: 1 min 03 s (26 of 437)"), "26 of 437");
  assert.equal(detailOf("   Compiling serde v1.0.228"), "Compiling serde v1.0.228");
});

test("flags for rustc can contain folders with spaces", () => {
  const { RUSTFLAGS, CARGO_ENCODED_RUSTFLAGS } = wasmCargoEnvironment({});
  assert.equal(RUSTFLAGS, undefined);
  const flags = CARGO_ENCODED_RUSTFLAGS.split("\x1f");
  assert.equal(flags[0], "-Ctarget-feature=+simd128");
  assert.equal(flags.at(-1), `--remap-path-prefix=${root}=.`);
});

test("decoding returns the encoded bytes", () => {
  const allBytes = Uint8Array.from({ length: 256 }, (_, byte) => byte);
  for (const bytes of [
    new Uint8Array(),
    Uint8Array.of(0),
    new Uint8Array(1000),
    allBytes,
    Uint8Array.from([...allBytes, ...allBytes.slice(200).reverse(), ...allBytes]),
  ]) {
    const encoded = encode(bytes);
    assert.match(encoded.text, /^[ #-[\]-~]*$/, "nothing that needs an escape");
    assert.deepEqual(decode(encoded), bytes);
  }
});

test("tools/bindgen has the version of the crate wasm-bindgen", () => {
  const version = (lock, crate) =>
    readFileSync(join(root, lock), "utf8").match(new RegExp(`name = "${crate}"\nversion = "([^"]+)"`))?.[1];
  assert.match(version("Cargo.lock", "wasm-bindgen"), /^\d+\.\d+\.\d+$/);
  assert.equal(version("tools/bindgen/Cargo.lock", "wasm-bindgen-cli-support"), version("Cargo.lock", "wasm-bindgen"));
});

describe("steps", () => {
  /** Runs the steps that `add` adds. Returns their output, the exit code, and their starts and ends in order. */
  async function runSteps(atOnce, add) {
    const steps = new Steps();
    const events = [];
    const body = (name, fails) => async () => {
      events.push(`+${name}`);
      log(`${name} speaks`);
      await new Promise((done) => setImmediate(done));
      await run("node", ["-e", `console.log("${name}", "printed")`], { show: true });
      log(`${name} spoke`);
      events.push(`-${name}`);
      if (fails) throw new Problem(`${name} is broken.`);
    };
    add(steps, body);
    let code;
    const output = await captureLog(async () => {
      await steps.run(atOnce);
      code = steps.close();
    });
    return { output, code, events };
  }

  test("run concurrently, and their output is not interleaved", async () => {
    const { output, code, events } = await runSteps(2, (steps, body) => {
      for (const name of ["a", "b", "c"]) steps.add(name, body(name));
    });
    assert.deepEqual(events.slice(0, 2), ["+a", "+b"]);
    assert.ok(events.indexOf("+c") > Math.min(events.indexOf("-a"), events.indexOf("-b")), "at most two run at once");
    for (const name of ["a", "b", "c"])
      assert.ok(output.includes(`▸ ${name}\n${name} speaks\n${name} printed\n${name} spoke\n  passed`), output);
    assert.match(output, /\n3 passed, 0 failed, 0 skipped, in /);
    assert.equal(code, 0);
  });

  test("do not run concurrently if they use the same folder", async () => {
    const { events } = await runSteps(3, (steps, body) => {
      for (const name of ["a", "b", "c"]) steps.add(name, body(name), { uses: name === "b" ? undefined : "target" });
    });
    assert.ok(events.indexOf("-a") < events.indexOf("+c"));
    assert.ok(events.indexOf("+b") < events.indexOf("-a"));
  });

  test("print their output so far when they are interrupted", () => {
    const result = spawnSync(
      process.execPath,
      [
        "--input-type=module",
        "-e",
        `
      import { log } from ${JSON.stringify(join(root, "scripts", "lib", "status.mjs"))};
      import { Steps } from ${JSON.stringify(join(root, "scripts", "test", "steps.mjs"))};
      const steps = new Steps();
      steps.add("a", async () => log("half way"));
      steps.add("b", async () => { log("half way"); process.exit(3); }, { needs: ["a"] });
      await steps.run(2);
    `,
      ],
      { encoding: "utf8" },
    );
    assert.equal(result.status, 3, result.stderr);
    assert.match(result.stderr, /▸ a\nhalf way\n {2}passed .*\n\n▸ b \(interrupted\)\nhalf way\n$/);
  });

  test("are skipped if they need a failed step, whose error is printed", async () => {
    const { output, code, events } = await runSteps(2, (steps, body) => {
      steps.add("a", body("a", true));
      steps.add("b", body("b"), { needs: ["a"] });
      steps.add("c", body("c"), { needs: ["b"] });
      steps.add("d", body("d"));
      assert.throws(() => steps.add("e", body("e"), { needs: ["f"] }), /was not added before it/);
    });
    assert.deepEqual(
      events.filter((event) => /[bc]/.test(event)),
      [],
    );
    for (const line of ["✗ a is broken.", '): needs "a"', '): needs "b"', "1 passed, 1 failed, 2 skipped, in "])
      assert.ok(output.includes(line), output);
    assert.equal(code, 1);
  });
});

describe("the logos of providers.toml", () => {
  const file = readFileSync(join(root, "providers.toml"), "utf8");

  test("exist, and have enough contrast to their tiles", () => {
    const logos = loadLogos(file);
    const logoLines = file.split("\n").filter((line) => line.startsWith("logo = "));
    assert.ok(logos.size > 200 && logoLines.every((line) => logos.has(line.slice(8, -1))), `${logos.size}`);
    for (const [slug, svg] of logos) {
      const [, tile, ink] = svg.match(
        /^<svg [^>]*><rect [^>]*fill="#(\w{6})"\/><path fill="#(\w{3})" d="[Mm][^"]+"\/><\/svg>$/,
      );
      assert.ok(contrast(tile, ink.repeat(2)) >= 3, `${slug}: ${tile}, ${ink}`);
    }
  });

  test("are reported if they can't be used", () => {
    assert.throws(() => loadLogos('logo = "slack"\nlogo = "slakc"\n  logo="sanity"\n# logo = "not-meant"\n'), {
      message:
        "providers.toml: the package simple-icons has no icon `slakc`; the icon `sanity` has a licence of its own, MIT: name another `logo`, or leave it out.",
    });
  });
});

/** The contrast ratio of two colours (WCAG 2). */
function contrast(...colours) {
  const luminance = (hex) => {
    const [red, green, blue] = hex
      .match(/../g)
      .map((two) => Number.parseInt(two, 16) / 255)
      .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const [dark, light] = colours.map(luminance).sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

test("changed secrets make wrangler reload its configuration", async () => {
  const folder = mkdtempSync(join(tmpdir(), "connector-vault-watched-"));
  const [secrets, config] = [".dev.vars", "wrangler.toml"].map((name) => join(folder, name));
  for (const file of [secrets, config]) writeFileSync(file, "");
  utimesSync(config, 1, 1);
  watchSecrets(folder);
  try {
    // The watcher misses a write before its first poll, so write until it notices the change.
    const writeTimer = setInterval(() => writeFileSync(secrets, `A=${Date.now()}`), 50);
    const configChange = new Promise((done) => watchFile(config, { interval: 50 }, () => done()));
    await configChange.finally(() => clearInterval(writeTimer));
    assert.ok(statSync(config).mtimeMs > 1000);
    assert.equal(readFileSync(config, "utf8"), "");
  } finally {
    for (const file of [secrets, config]) unwatchFile(file);
    rmSync(folder, { recursive: true, force: true });
  }
});
