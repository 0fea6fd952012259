// A temporary folder for tests: catalogs that the real command line imports and publishes, migrated databases, and direct access to
// their local storage.
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildNativeCli, program as builtProgram } from "../../../scripts/lib/native-cli.mjs";
import { openapiDirectory, root, wrangler } from "../../../scripts/lib/paths.mjs";
import { run } from "../../../scripts/lib/run.mjs";
import { Database } from "./database.mjs";
import { secrets } from "./http.mjs";
import { copyStorage, template } from "./templates.mjs";

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
const program = process.env.CONNECTOR_VAULT_BUILT ? builtProgram : buildNativeCli();

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

/** Imports documents into a catalog folder. The catalog of files of this checkout is imported once. */
export async function importCatalog(name, ...args) {
  const isOwn = args.every((arg) => !arg.startsWith(folder));
  const out = isOwn
    ? await template(await program, ["catalog", ...args], (out) => cli("catalog", "import", ...args, "--out", out))
    : join(folder, name);
  if (!isOwn) await cli("catalog", "import", ...args, "--out", out);
  return new Catalog(out, isOwn);
}

export const importPlatforms = (name, documents, providers) =>
  importCatalog(name, ...[documents].flat(), "--licence", "any", "--providers", providers);

const importDocuments = (name, documents) => importCatalog(name, ...documents, "--licence", "any", "--no-providers");

/** A catalog of the committed documents. */
export const smallCatalog = () => importDocuments("small", [FIXTURES]);
/** A catalog of one committed document. */
export const otherCatalog = () => importDocuments("other", [join(FIXTURES, "petstore-2.0.yaml")]);
/** A catalog of the committed documents, GitHub's, and the largest one. */
export const largeCatalog = () =>
  importPlatforms(
    "large",
    [FIXTURES, ...LARGE.map((name) => join(openapiDirectory, "api", name))],
    join(root, "tests", "fixtures", "github.toml"),
  );
/** A catalog of the committed documents, GitHub's, and those of a provider with hundreds of services. */
export const wideCatalog = () =>
  importDocuments("wide", [
    FIXTURES,
    ...["github.com/api.github.com.json", "googleapis.com"].map((name) => join(openapiDirectory, "api", name)),
  ]);

class Catalog {
  /** @param {boolean} isShared whether other test files use this folder, which they must not change */
  constructor(path, isShared = false) {
    this.path = path;
    this.isShared = isShared;
    this.version = JSON.parse(readFileSync(join(path, "current.json"), "utf8")).version;
  }

  /** The record of the published catalog: the value `current`. */
  get record() {
    return readFileSync(join(this.path, "versions", `${this.version}.current`));
  }

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

  /** Migrates the database with wrangler's own command. */
  async migrateByWrangler() {
    return run(wrangler, ["d1", "migrations", "apply", "VAULT", "--local", "--persist-to", this.path], options);
  }

  /** Fills the storage with a migrated database and perhaps a catalog, as the commands do. */
  async prepare(catalog) {
    const migrated = await template(await program, "migrated", (path) => cli("migrate", "--persist-to", path));
    const source = catalog?.isShared
      ? await template(await program, ["published", catalog.path], async (path) => {
          copyStorage(migrated, path);
          await cli("catalog", "publish", "--local", "--persist-to", path, "--catalog", catalog.path);
        })
      : migrated;
    copyStorage(source, this.path);
    if (catalog && !catalog.isShared) await this.publish(catalog);
  }

  /** Copies the storage, which no process may have open. */
  copy(name) {
    const copy = new State(name);
    copyStorage(this.path, copy.path);
    return copy;
  }

  /** Opens the storage directly: { catalog, vault, close() }. It must be closed, or this process does not exit. */
  async open() {
    const vault = new Database(this.path);
    let opened;
    /** Wraps a method of the KV namespace, so that the namespace is opened at the first call. */
    const method =
      (name) =>
      async (...args) => {
        opened ??= openKv(this.path);
        const { env } = await opened;
        return env.CATALOG[name](...args);
      };
    const catalog = Object.fromEntries(["get", "put", "delete", "list"].map((name) => [name, method(name)]));
    const close = async () => {
      vault.close();
      await (await opened)?.dispose();
    };
    return { catalog, vault, close };
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

/** Opens the KV namespace of a storage with wrangler. */
async function openKv(path) {
  // Imported here, because it takes a second of CPU and few test files need it.
  const { getPlatformProxy } = await import("wrangler");
  return getPlatformProxy({ configPath: join(root, "wrangler.toml"), persist: { path: join(path, "v3") } });
}
