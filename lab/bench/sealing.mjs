// Measures encrypting and decrypting credentials: with the service's own code (RustCrypto compiled to WebAssembly), and with
// the runtime's WebCrypto.
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { bundleWorker, compileExample, optimizeWorker } from "../../scripts/build-worker.mjs";
import { root } from "../../scripts/lib/paths.mjs";
import { Problem } from "../../scripts/lib/problem.mjs";
import { task } from "../../scripts/lib/status.mjs";
import { writeGlue } from "../../scripts/lib/wasm.mjs";
import { setup } from "../../scripts/setup.mjs";
import { compatibilityDate } from "./common.mjs";
import { HttpLoad, encode } from "./load.mjs";
import { median, quartiles } from "./report.mjs";
import { Runtime } from "./runtime.mjs";
import { NONCE_LENGTH, derive, seal } from "../../scripts/test/webcrypto.mjs";

/** The number of new processes for cold measurements, and of rounds for warm ones. */
export const SAMPLES = 15;
/** Operations per request in a warm round, and warm-up requests for V8 to optimize the code. */
const [OPERATIONS_PER_REQUEST, WARM_UPS] = [2_000, 8];
const OPERATIONS = ["open", "seal"];
/** The measured cases by name: the implementation, and whether the Worker runs it once while the isolate starts (`rehearses`). */
export const IMPLEMENTATIONS = {
  rustcrypto: { way: "rustcrypto", about: "RustCrypto in WebAssembly" },
  rehearsed: { way: "rustcrypto", rehearses: true, about: "the same, rehearsed while the isolate starts" },
  webcrypto: { way: "webcrypto", about: "WebCrypto" },
  kept: { way: "kept", about: "WebCrypto, with the derived key kept" },
};

/** The key, and below it the plaintext: one kilobyte, the size of typical OAuth tokens. */
const [KEY_ID, KEY] = ["bench-1", Buffer.from(Array.from({ length: 32 }, (_, n) => n))];
const SEAL_CONTEXT = {
  account: "acme",
  environment: "live",
  kind: "connection",
  id: "7a8e0d5c-2f1b-4c3d-9e4f-5a6b7c8d9e0f",
};
const TOKENS = { access: "a".repeat(700), kind: "Bearer", refresh: "r".repeat(232), members: {} };
const PLAINTEXT = JSON.stringify({ type: "oauth2", fields: {}, tokens: TOKENS, account: null });

/** The exports of the module `given`, which the Worker imports. */
async function givenModule() {
  const key = await derive(KEY, SEAL_CONTEXT);
  const bytes = await seal(key, KEY_ID, SEAL_CONTEXT, Buffer.alloc(NONCE_LENGTH, 7), Buffer.from(PLAINTEXT));
  const sealed = `${KEY_ID}.${Buffer.from(bytes).toString("base64url")}`;
  return { keyId: KEY_ID, master: KEY.toString("base64"), place: SEAL_CONTEXT, plain: PLAINTEXT, sealed };
}

/** Builds the Worker with and without a rehearsal. Returns services for `Runtime` by name. */
async function build(folder) {
  const { wasm } = await setup();
  const module = await task("sealing (wasm, release)", (detail) => compileExample(wasm, "sealing", detail));
  await writeGlue("worker", module, folder);
  await optimizeWorker(join(folder, "index_bg.wasm"), join(folder, "sealing.wasm"));
  const [input, services] = [await givenModule(), {}];
  for (const [name, rehearses] of [
    ["plain", false],
    ["rehearsed", true],
  ]) {
    const data = join(folder, `${name}.json`);
    writeFileSync(data, JSON.stringify({ ...input, rehearses }));
    // Copies the glue, because bundling modifies it.
    copyFileSync(join(folder, "index.js"), join(folder, `${name}.glue.js`));
    const entry = join(root, "lab", "bench", "sealing-worker.mjs");
    await bundleWorker(entry, join(folder, `${name}.glue.js`), join(folder, `${name}.js`), { given: data });
    const modules = [
      { name: `${name}.js`, kind: "esModule", file: `${name}.js` },
      { name: "index_bg.wasm", kind: "wasm", file: "sealing.wasm" },
    ];
    services[name] = { name, compatibilityDate: compatibilityDate(), modules };
  }
  const bytes = readFileSync(join(folder, "sealing.wasm"));
  return { services, bytes: bytes.length, gzipped: gzipSync(bytes, { level: 9 }).length };
}

/** Starts a process with a Worker. `use` gets the process and a connection to it. */
async function withProcess(folder, service, use) {
  const runtime = await Runtime.start(folder, service.name, [service], [service.name]);
  try {
    const load = await HttpLoad.to(runtime.ports[service.name], 1);
    const sendRequest = async (path) => String((await load.run(1, () => encode(path, {}), 200)).body);
    const response = await use(runtime, sendRequest);
    load.close();
    return response;
  } finally {
    await runtime.stop();
  }
}

/** Processor time of a request in microseconds, of all threads. */
async function cpuPerRequest(runtime, sendRequest, path) {
  const before = await runtime.settledCpu();
  await sendRequest(path);
  return (await runtime.settledCpu()) - before;
}

/**
 * Measures each implementation. Returns the size of the module, and microseconds of processor time by name and operation: `cold`,
 * the additional time of the first request of a new isolate compared with an empty request, and `warm`, one operation of many.
 */
export async function benchSealing(samples = SAMPLES) {
  if (process.platform !== "linux") throw new Problem("The benchmark reads processor time from /proc: it needs Linux.");
  const folder = mkdtempSync(join(tmpdir(), "connector-vault-bench-"));
  try {
    const { services, bytes, gzipped } = await build(folder);
    const of = ({ rehearses }) => (rehearses ? services.rehearsed : services.plain);
    if ((await withProcess(folder, services.plain, (_, sendRequest) => sendRequest("/agree"))) !== "true")
      throw new Problem("WebCrypto and the service's own code cannot decrypt each other's results.");
    const measured = {};
    for (const name of Object.keys(IMPLEMENTATIONS)) {
      measured[name] = Object.fromEntries(OPERATIONS.map((what) => [what, { cold: [], warm: [] }]));
    }
    await task(`Encryption, first time: ${samples} new processes each`, async (detail) => {
      const first = (service, path) =>
        withProcess(folder, service, (runtime, sendRequest) => cpuPerRequest(runtime, sendRequest, path));
      for (let sample = 0; sample < samples; sample += 1) {
        for (const [name, way] of Object.entries(IMPLEMENTATIONS)) {
          detail(`sample ${sample + 1}, ${name}`);
          const emptyRequest = await first(of(way), "/nothing/open/1");
          for (const what of OPERATIONS)
            measured[name][what].cold.push((await first(of(way), `/${way.way}/${what}/1`)) - emptyRequest);
        }
      }
    });
    await task(
      `Encryption, ${OPERATIONS_PER_REQUEST.toLocaleString("en")} times: ${samples} rounds`,
      async (detail) => {
        // A rehearsal makes no difference after V8 has optimized the code.
        const ways = Object.entries(IMPLEMENTATIONS).filter(([, { rehearses }]) => !rehearses);
        await withProcess(folder, services.plain, async (runtime, sendRequest) => {
          const paths = ways.flatMap(([name, { way }]) =>
            OPERATIONS.map((what) => [name, what, `/${way}/${what}/${OPERATIONS_PER_REQUEST}`]),
          );
          for (const [, , path] of paths)
            for (let request = 0; request < WARM_UPS; request += 1) await sendRequest(path);
          for (let round = 0; round < samples; round += 1) {
            detail(`round ${round + 1}`);
            for (const [name, what, path] of paths)
              measured[name][what].warm.push(
                (await cpuPerRequest(runtime, sendRequest, path)) / OPERATIONS_PER_REQUEST,
              );
          }
        });
      },
    );
    return { bytes, gzipped, plain: PLAINTEXT.length, measured };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const milliseconds = (values) => {
  if (values.length === 0) return "–";
  const [low, middle, high] = [quartiles(values)[0], median(values), quartiles(values)[1]].map((us) => us / 1000);
  const formatted = (value) => value.toFixed(middle < 0.1 ? 3 : 2);
  return `${formatted(middle)} (${formatted(low)}–${formatted(high)})`;
};

/** The results as rows of cells, with headers. */
export const sealingTable = ({ measured }) => [
  ["processor time, ms", "open, first", "open, one of many", "seal, first", "seal, one of many"],
  ...Object.entries(IMPLEMENTATIONS).map(([name, { about }]) => [
    about,
    ...OPERATIONS.flatMap((what) => [measured[name][what].cold, measured[name][what].warm].map(milliseconds)),
  ]),
];

/** Notes below the table. */
export function sealingNotes({ bytes, gzipped, plain, measured }) {
  const kb = (count) => `${(count / 1000).toFixed(1)} KB`;
  const warm = (name) => median(measured[name].open.warm);
  return `Sealed are ${plain.toLocaleString("en")} bytes. The WebAssembly module of RustCrypto alone has ${kb(bytes)}, ${kb(gzipped)} gzipped; WebCrypto is a part of the runtime. One open of many takes ${(warm("webcrypto") / warm("rustcrypto")).toFixed(1)} times as long by WebCrypto, and ${(warm("kept") / warm("rustcrypto")).toFixed(1)} times with the derived key kept.`;
}
