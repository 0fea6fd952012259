// The Cloudflare account that `npm run deploy` uses, through wrangler.
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { work, wrangler } from "../lib/paths.mjs";
import { Problem } from "../lib/problem.mjs";
import { run } from "../lib/run.mjs";

const LOGIN_HINT = [
  "Run `npx wrangler login`, or set CLOUDFLARE_API_TOKEN. If you have several accounts, also set CLOUDFLARE_ACCOUNT_ID.",
  "Accounts are free: https://dash.cloudflare.com/sign-up. To list the steps without running them: npm run deploy -- --dry-run",
].join("\n");

/** Parses the JSON in the output of wrangler, which may have other lines before it. */
function parseJson(text) {
  const start = text.search(/^[[{]/m);
  if (start < 0) throw new Problem("wrangler printed no JSON.", { output: text });
  return JSON.parse(text.slice(start));
}

/** Runs the wrangler of a project in the project's folder. */
export class Cloudflare {
  /** @param {string} folder the folder with wrangler.toml and node_modules */
  constructor(folder) {
    this.folder = folder;
    this.wrangler = folder === work ? wrangler : join(folder, "node_modules", ".bin", "wrangler");
    this.file = join(folder, "wrangler.toml");
  }

  get config() {
    return readFileSync(this.file, "utf8");
  }

  configure(text) {
    writeFileSync(`${this.file}.new`, text);
    renameSync(`${this.file}.new`, this.file);
  }

  #run(args, options = {}) {
    return run(this.wrangler, args, { cwd: this.folder, ...options });
  }

  /** Runs wrangler. Returns undefined if it fails with `message`, which reports a missing resource. */
  async #runUnless(message, args) {
    try {
      return await this.#run(args);
    } catch (error) {
      if (message.test(error.output ?? "")) return undefined;
      throw error;
    }
  }

  /** Fails if wrangler is not signed in. */
  async ensureSignedIn() {
    try {
      await this.#run(["whoami", "--json"], { hint: LOGIN_HINT });
    } catch (error) {
      if (!/"loggedIn":\s*false/.test(error.output ?? "")) throw error;
      throw new Problem("You are not signed in to Cloudflare.", { hint: LOGIN_HINT });
    }
  }

  /** Returns the id of the KV namespace with this title. Creates it if necessary. */
  async namespace(title) {
    const find = async () =>
      parseJson(await this.#run(["kv", "namespace", "list"])).find((namespace) => namespace.title === title)?.id;
    const existingId = await find();
    if (existingId) return existingId;
    await this.#run(["kv", "namespace", "create", title]);
    return (await find()) ?? throwMissing(`the KV namespace ${title}`);
  }

  /** Returns the id of the D1 database with this name. Creates it if necessary. */
  async database(name) {
    const find = async () =>
      parseJson(await this.#run(["d1", "list", "--json"])).find((database) => database.name === name)?.uuid;
    const existingId = await find();
    if (existingId) return existingId;
    await this.#run(["d1", "create", name]);
    return (await find()) ?? throwMissing(`the D1 database ${name}`);
  }

  /** Creates the queue unless it exists. */
  async queue(name) {
    if ((await this.#runUnless(/does not exist/i, ["queues", "info", name])) === undefined)
      await this.#run(["queues", "create", name]);
  }

  /** Whether a catalog has been published to the namespace. */
  async hasPublishedCatalog() {
    const args = ["kv", "key", "list", "--binding", "CATALOG", "--remote", "--prefix", "current"];
    return parseJson(await this.#run(args)).length > 0;
  }

  /** The names of the Worker's secrets; none before the first deployment. */
  async secrets() {
    const output = await this.#runUnless(/\bnot found\b|\[code: 10007\]|does not exist/i, ["secret", "list"]);
    return output === undefined ? [] : parseJson(output).map(({ name }) => name);
  }

  /**
   * Deploys the Worker together with new secrets. Returns its URLs.
   * @param {string[]} args for wrangler
   * @param {Record<string, string>} secrets those that the Worker does not have yet
   */
  async deploy(args, secrets) {
    const scratch = mkdtempSync(join(tmpdir(), "connector-vault-deploy-"));
    try {
      const [outputFile, secretsFile] = [join(scratch, "output.jsonl"), join(scratch, "secrets.json")];
      writeFileSync(secretsFile, JSON.stringify(secrets), { mode: 0o600 });
      const secretArgs = Object.keys(secrets).length > 0 ? ["--secrets-file", secretsFile] : [];
      const env = { WRANGLER_OUTPUT_FILE_PATH: outputFile };
      await this.#run(["deploy", ...secretArgs, ...args], { show: true, env });
      const entries = readFileSync(outputFile, "utf8")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line));
      return entries.find(({ type }) => type === "deploy")?.targets ?? [];
    } finally {
      rmSync(scratch, { recursive: true, force: true });
    }
  }
}

function throwMissing(what) {
  throw new Problem(`wrangler created ${what}, but does not list it.`, { hint: "Run this again in a minute." });
}
