// Serves a built Worker with the same Miniflare and bindings as `wrangler dev`, but without wrangler's proxy, which takes seven eighths
// of a request's time, and without its command line.
//
//   node tests/e2e/support/direct.mjs --config … --persist-to … --ip … --port … --inspector-port … [--platforms …]
//     [--timers N] [--clock]
//
// --platforms: a module whose default export responds to the Worker's requests to other services, so that nothing leaves the machine.
// --timers: the Worker's timers run N times as fast, which speeds up tests of timeouts.
// --clock: a request with the header `x-test-wait` moves the Worker's clock forward by this many milliseconds.
import { createRequire, enableCompileCache } from "node:module";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { root } from "../../../scripts/lib/paths.mjs";

enableCompileCache();
const requireHere = createRequire(import.meta.url);
const wrangler = requireHere.resolve("wrangler");
const { version: VERSION } = requireHere("wrangler/package.json");
const { convertV4MiniflareOptions, Log, LogLevel, Miniflare, Response } = createRequire(wrangler)("miniflare");

const text = { type: "string" };
const { values } = parseArgs({
  options: {
    ...{ config: text, "persist-to": text, ip: text, port: text, "inspector-port": text, platforms: text },
    timers: { type: "string", default: "1" },
    clock: { type: "boolean", default: false },
  },
});
const hashOf = (value) => createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 20);

/** Parses lines such as `NAME = "…"`. Returns the values by name. */
const valuesIn = (lines) =>
  Object.fromEntries([...lines.matchAll(/^(\w+) ?= ?(".*")$/gm)].map(([, name, value]) => [name, JSON.parse(value)]));

/**
 * Returns the options that wrangler derives from a configuration. Caches them for all configurations that differ only in variables and
 * secrets, because loading wrangler takes half a second of processor time.
 */
function miniflareConfig(path) {
  const [before, variables = "", rest = ""] = readFileSync(path, "utf8").split(/^(\[vars\]\n(?:[^[].*\n|\n)*)/m);
  const file = join(root, "target", "e2e-options", `${hashOf([before, rest, VERSION])}.json`);
  if (!existsSync(file)) {
    const { unstable_getMiniflareWorkerOptions: optionsOf, unstable_readConfig: readConfig } = requireHere("wrangler");
    const { name, main } = readConfig({ config: path });
    const { bindings: _, ...workerOptions } = optionsOf(path).workerOptions;
    mkdirSync(dirname(file), { recursive: true });
    const temporaryFile = `${file}.${process.pid}`;
    writeFileSync(temporaryFile, JSON.stringify({ name, main, workerOptions }));
    renameSync(temporaryFile, file);
  }
  const { name, main, workerOptions } = JSON.parse(readFileSync(file, "utf8"));
  const bindings = { ...valuesIn(variables), ...valuesIn(readFileSync(join(dirname(path), ".dev.vars"), "utf8")) };
  return { name, main, workerOptions: { ...workerOptions, bindings, rootPath: dirname(path) } };
}

const config = miniflareConfig(values.config);
const folder = dirname(config.main);
const worker = [
  { type: "ESModule", path: config.main },
  { type: "CompiledWasm", path: join(folder, "index_bg.wasm") },
];
if (values.timers !== "1") {
  const entry = {
    type: "ESModule",
    path: join(folder, "fast.js"),
    contents: 'import "./timers.js";\nexport * from "./index.js";\nexport { default } from "./index.js";\n',
  };
  const contents = `const [{ setTimeout }, timeout] = [globalThis, AbortSignal.timeout.bind(AbortSignal)];
globalThis.setTimeout = (body, ms, ...values) => setTimeout(body, ms / ${Number(values.timers)}, ...values);
AbortSignal.timeout = (ms) => timeout(ms / ${Number(values.timers)});
`;
  worker.unshift(entry, { type: "ESModule", path: join(folder, "timers.js"), contents });
}
if (values.clock) {
  const contents = `import worker from "./index.js";
export * from "./index.js";
let ahead = 0;
const now = Date.now.bind(Date);
Date.now = () => now() + ahead;
const fetch = (request, ...others) => {
  const wait = request.headers.get("x-test-wait");
  if (wait === null) return worker.fetch(request, ...others);
  ahead += Number(wait);
  return new Response(null, { status: 204 });
};
export default { ...worker, fetch };
`;
  worker.unshift({ type: "ESModule", path: join(folder, "clock.js"), contents });
}
const platforms = values.platforms && (await import(values.platforms)).default;
const runtime = new Miniflare(
  convertV4MiniflareOptions({
    ...config.workerOptions,
    name: config.name,
    // Tests fire the cron trigger with a request.
    unsafeTriggerHandlers: true,
    ...(platforms && { outboundService: (request) => platforms(request, Response) }),
    modulesRoot: folder,
    modules: worker,
    resourcePersistencePath: join(values["persist-to"], "v3"),
    host: values.ip,
    port: Number(values.port),
    inspectorPort: Number(values["inspector-port"]),
    log: new Log(LogLevel.INFO),
  }),
);
await runtime.ready;
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => runtime.dispose().then(() => process.exit(0)));
