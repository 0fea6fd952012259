// Runs the service on the real runtime with documents of sources.toml, whose platforms are stand-ins on this machine.
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import jsf from "json-schema-faker";
import { root } from "../../scripts/lib/paths.mjs";
import { cli, folder, importCatalog } from "../../tests/e2e/support/workspace.mjs";
import { validator } from "../actions-proof/inputs.mjs";
import { randomValue } from "../actions-proof/random.mjs";
import { PlatformService } from "../platform-service.mjs";

const CACHE = join(root, ".sources");
/** How many times to try to generate a valid input. */
const MAX_TRIES = 20;
/** The maximum length of an input in characters. The service accepts 64 KiB. */
const MAX_INPUT_LENGTH = 20_000;
// Without this option, generated objects get additional members that platforms reject.
jsf.option({ fillProperties: false });

const sha256 = (content) => createHash("sha256").update(content).digest("hex");

/** Downloads the documents of sources.toml in a format. Returns those that are available: { platform, content }. */
export async function documents(format) {
  const tables = readFileSync(join(root, "sources.toml"), "utf8").split(/\n(?=\[platforms\.)/);
  const found = tables
    .filter((table) => table.includes(`\nformat = "${format}"`))
    .map((table) => ({
      platform: /^\[platforms\.([\w-]+)\]/.exec(table)[1],
      file: join(CACHE, "documents", /\nsha256 = "(\w+)"/.exec(table)[1]),
    }));
  const names = found.filter(({ file }) => !existsSync(file)).map(({ platform }) => platform);
  // Fails if a document cannot be downloaded, for example without a network.
  if (names.length > 0) await cli("catalog", "fetch", "--cache", CACHE, ...names).catch(() => {});
  return found
    .filter(({ file }) => existsSync(file))
    .map(({ platform, file }) => ({ platform, content: readFileSync(file, "utf8") }));
}

/** A server for all platforms: `http://127.0.0.1:…/{platform}/…`. */
export class StandIn {
  /** @param {(request: object) => Promise<{ faults: string[], body: string }>} answer */
  static async start(answer) {
    const standIn = new StandIn();
    standIn.faults = [];
    standIn.http = createServer(async (request, response) => {
      const url = new URL(request.url, "http://127.0.0.1");
      const [, platform, path] = /^\/([^/]+)\/(.*)$/.exec(url.pathname);
      const query = url.searchParams;
      const { faults, body } = await answer({ platform, verb: request.method, path, query, body: await text(request) });
      standIn.requests += 1;
      standIn.faults.push(...faults);
      response.writeHead(200, { "content-type": "application/json" }).end(body);
    });
    standIn.requests = 0;
    standIn.http.listen(0, "127.0.0.1");
    await once(standIn.http, "listening");
    standIn.origin = `http://127.0.0.1:${standIn.http.address().port}`;
    return standIn;
  }

  /** The number of requests since the last call, and their faults. */
  take() {
    const { requests, faults } = this;
    [this.requests, this.faults] = [0, []];
    return { requests, faults };
  }

  stop() {
    this.http.closeAllConnections();
    return new Promise((done) => this.http.close(done));
  }
}

export class Service extends PlatformService {
  /**
   * @param {string} name
   * @param {{ platform: string, format: string, content: string, endpoint?: string }[]} platforms
   * @param {string} origin of their stand-ins
   */
  static async start(name, platforms, origin) {
    return new Service().start(name, () => imported(name, platforms, origin));
  }

  /** A deterministic selection of at most `max` actions of a platform. */
  async actions(platform, max, seed) {
    const choice = ["--sample", `${max}`, "--seed", seed];
    const exported = await cli("catalog", "export", platform, ...choice, "--catalog", this.catalog.path);
    const lines = exported.split("\n").filter(Boolean);
    return lines.map((line) => JSON.parse(line).action).filter(Boolean);
  }
}

/** A random valid input of an action. Fails if none can be generated. */
export function inputOf(action, random) {
  const validate = validator(action);
  for (let tries = MAX_TRIES; validate && tries > 0; tries -= 1) {
    const input = randomValue(action.input, random);
    if (input !== undefined && validate(input) && JSON.stringify(input).length < MAX_INPUT_LENGTH) return input;
  }
  throw new Error(`no input could be generated for ${action.key}`);
}

/** Imports the documents like fetched ones, for platforms that users connect with a token. */
function imported(name, platforms, origin) {
  const cache = join(folder, `${name}-sources`);
  mkdirSync(join(cache, "documents"), { recursive: true });
  const entries = platforms.map(({ platform, format, content, endpoint }) => {
    writeFileSync(join(cache, "documents", sha256(content)), content);
    const place = endpoint ? `\nendpoint = "${endpoint}"` : "";
    return {
      source: `[platforms.${platform}]\naddress = "https://example.com/${platform}"\nformat = "${format}"${place}
licence = { name = "MIT", source = "https://example.com" }\nsha256 = "${sha256(content)}"\noperations = 1
read = "2026-11-28"\n`,
      provider: `[platforms.${platform}]\nname = "${platform}"\nservers = ["${origin}/${platform}"]
[[platforms.${platform}.auth]]\nid = "token"\ntype = "bearer"
fields = [{ name = "token", label = "Token", secret = true, required = true }]
source = "https://example.com"\nread = "2026-11-28"\n`,
    };
  });
  const write = (file, tables) => writeFileSync(join(folder, file), tables.join("\n"));
  write(
    `${name}-sources.toml`,
    entries.map(({ source }) => source),
  );
  write(
    `${name}-providers.toml`,
    entries.map(({ provider }) => provider),
  );
  // An import needs at least one document in a file.
  const other = { openapi: "3.0.0", info: { title: "Other", version: "1" }, paths: {} };
  writeFileSync(join(folder, `${name}-other.json`), JSON.stringify(other));
  const [list, providers] = ["sources", "providers"].map((what) => join(folder, `${name}-${what}.toml`));
  const options = ["--licence", "any", "--fetched", cache, "--list", list, "--providers", providers];
  return importCatalog(name, join(folder, `${name}-other.json`), ...options);
}
