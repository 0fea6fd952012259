// A temporary folder for tests: catalogs that the real command line imports and publishes, migrated databases, and direct access to
// their local storage.
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nativeCli, program as builtProgram } from "../../../scripts/lib/native-cli.mjs";
import { openapiDirectory, root, wrangler } from "../../../scripts/lib/paths.mjs";
import { run } from "../../../scripts/lib/run.mjs";
import { untilOpen, whenNotBusy } from "../../../scripts/storage/busy.mjs";
import { secrets } from "./http.mjs";

const FIXTURES = join(root, "tests", "fixtures", "openapi", "good");
const LARGE = ["github.com/api.github.com.json", "microsoft.com/graph-beta.json"];

/** The temporary folder, deleted when the process exits. */
export const folder = mkdtempSync(join(tmpdir(), "connector-vault-e2e-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));

/** The environment of wrangler: without telemetry, with logs in the temporary folder. */
export const wranglerEnvironment = {
  WRANGLER_SEND_METRICS: "false",
  WRANGLER_LOG_PATH: join(folder, "logs"),
  WRANGLER_REGISTRY_PATH: join(folder, "registry"),
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
  NO_COLOR: "1",
};
Object.assign(process.env, wranglerEnvironment);

const options = { env: wranglerEnvironment, timeout: 120_000 };

/** Runs the operator's command line and returns what it prints. */
export async function cli(...args) {
  return run(await program, args, options);
}
const program = process.env.CONNECTOR_VAULT_BUILT ? builtProgram : nativeCli();

/** Creates a key with `npm run keys`, as in docs/operating.md. */
export async function npmKeys(...args) {
  const made = JSON.parse(await run("npm", ["run", "--silent", "keys", "--", ...args, "--json"], options));
  if (made.secret) secrets.add(made.secret);
  return made;
}

/** Builds the Worker and the site if their sources changed, unless `npm test` has done so. */
export async function build() {
  if (!process.env.CONNECTOR_VAULT_BUILT)
    await run("npm", ["run", "--silent", "build"], { ...options, timeout: 900_000 });
}

/** Retries statements while another process writes to the file: SQLite allows one writer at a time, and workerd does not wait. */
function patient(database) {
  const originals = new WeakMap();
  const wrap = (statement) => {
    const runs = (name) => [name, (...args) => whenNotBusy(() => statement[name](...args))];
    const waiting = {
      bind: (...values) => wrap(statement.bind(...values)),
      ...Object.fromEntries(["all", "first", "raw", "run"].map(runs)),
    };
    originals.set(waiting, statement);
    return waiting;
  };
  return {
    prepare: (sql) => wrap(database.prepare(sql)),
    batch: (statements) => whenNotBusy(() => database.batch(statements.map((one) => originals.get(one)))),
  };
}

/** Imports documents into a catalog folder. */
async function importCatalog(name, documents) {
  const out = join(folder, name);
  await cli("catalog", "import", ...documents, "--licence", "any", "--no-providers", "--out", out);
  return new Catalog(out);
}

/** Imports documents and a file of providers. */
export async function importPlatforms(name, documents, providers) {
  const out = join(folder, name);
  await cli("catalog", "import", ...[documents].flat(), "--licence", "any", "--providers", providers, "--out", out);
  return new Catalog(out);
}

/** A catalog of the committed documents. */
export const smallCatalog = () => importCatalog("small", [FIXTURES]);
/** A catalog of one committed document. */
export const otherCatalog = () => importCatalog("other", [join(FIXTURES, "petstore-2.0.yaml")]);
/** A catalog of the committed documents, GitHub's, and the largest one. */
export const largeCatalog = () =>
  importPlatforms(
    "large",
    [FIXTURES, ...LARGE.map((name) => join(openapiDirectory, "api", name))],
    join(root, "tests", "fixtures", "github.toml"),
  );
/** A catalog of the committed documents, GitHub's, and those of a provider with hundreds of services. */
export const wideCatalog = () =>
  importCatalog("wide", [
    FIXTURES,
    ...["github.com/api.github.com.json", "googleapis.com"].map((name) => join(openapiDirectory, "api", name)),
  ]);

/** A catalog folder. */
class Catalog {
  constructor(path) {
    this.path = path;
    this.version = JSON.parse(readFileSync(join(path, "current.json"), "utf8")).version;
  }

  /** The record of the published catalog: the value `current`. */
  get record() {
    return readFileSync(join(this.path, "versions", `${this.version}.current`));
  }

  /** The bytes of a segment. */
  segment(id) {
    return readFileSync(join(this.path, "segments", id));
  }

  /** The name of the segment that contains a string. */
  segmentWith(text) {
    return readdirSync(join(this.path, "segments")).find((id) => this.segment(id).includes(text));
  }
}

/** wrangler's local storage in a folder. */
export class State {
  constructor(name) {
    this.path = join(folder, name);
  }

  /** Publishes the catalog to this storage. */
  async publish(catalog) {
    await cli("catalog", "publish", "--local", "--persist-to", this.path, "--catalog", catalog.path);
  }

  /** Migrates the database, as `npm start` and `npm run deploy` do. Returns the names of the applied migrations. */
  async migrate(...how) {
    const names = await cli("migrate", "--persist-to", this.path, ...how);
    return names.split("\n").filter(Boolean);
  }

  /** The same with wrangler's command. */
  async migrateByWrangler() {
    return run(wrangler, ["d1", "migrations", "apply", "VAULT", "--local", "--persist-to", this.path], options);
  }

  /** Copies the storage, which no process may have open. */
  copy(name) {
    const copy = new State(name);
    cpSync(this.path, copy.path, { recursive: true });
    return copy;
  }

  /** Opens the storage directly: { catalog, vault, close() }. It must be closed, or this process does not exit. */
  async open() {
    // Imported here, because it takes a second of CPU and not every test file needs it.
    const { getPlatformProxy } = await import("wrangler");
    const persist = { path: join(this.path, "v3") };
    const { env, dispose } = await getPlatformProxy({ configPath: join(root, "wrangler.toml"), persist });
    try {
      await untilOpen(env.VAULT);
      return { catalog: env.CATALOG, vault: patient(env.VAULT), close: dispose };
    } catch (error) {
      await dispose();
      throw error;
    }
  }

  /** Opens the storage for `work`, and closes it afterwards. Returns the result of `work`. */
  async use(work) {
    const opened = await this.open();
    try {
      return await work(opened);
    } finally {
      await opened.close();
    }
  }
}
