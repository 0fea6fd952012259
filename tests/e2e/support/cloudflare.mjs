// A fake of Cloudflare's API for wrangler in `npm run deploy`, with an initially empty account.
import { createHash, randomUUID } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { listen } from "./listening.mjs";

export const ACCOUNT = "a".repeat(32);
const TOKEN = "stand-in";

/** Splits SQL into statements. Does not support semicolons in strings or triggers. */
const statements = (sql) => sql.split(";").filter((statement) => statement.trim() !== "");

class Rejection extends Error {
  constructor(status, code, message) {
    super(message);
    Object.assign(this, { status, code });
  }
}

export class CloudflareApi {
  namespaces = [];
  databases = [];
  /** The rows that each database has read in each of two hours, by its id. */
  rowsRead = new Map();
  queues = [];
  values = new Map();
  secrets = {};
  /** The metadata of each upload of the Worker. */
  uploads = [];
  schedules = [];
  /** The method and path of each request. */
  requests = [];
  /** Requests whose "METHOD path" matches are rejected. */
  rejectedRequests = undefined;
  unknownRequests = [];

  async start() {
    this.server = createServer((request, response) => this.#answer(request, response));
    this.port = await listen(this.server);
    return this;
  }

  stop() {
    this.server.closeAllConnections();
    this.server.close();
    for (const { sqlite } of this.databases) sqlite.close();
  }

  /** The environment that makes wrangler use this instead of Cloudflare. */
  get environment() {
    return {
      CLOUDFLARE_API_BASE_URL: `http://127.0.0.1:${this.port}/client/v4`,
      CLOUDFLARE_ACCOUNT_ID: ACCOUNT,
      CLOUDFLARE_API_TOKEN: TOKEN,
    };
  }

  async #answer(request, response) {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const url = new URL(request.url, "http://localhost");
    const path = url.pathname.replace("/client/v4", "").replace(`/accounts/${ACCOUNT}`, "");
    const name = `${request.method} ${path}`;
    this.requests.push(name);
    const send = (status, value, headers = {}) => {
      response.writeHead(status, { "content-type": "application/json", ...headers });
      response.end(JSON.stringify(value));
    };
    try {
      if (name.startsWith("PUT /upload/")) {
        this.file = body.toString();
        return send(200, {}, { etag: `"${createHash("md5").update(body).digest("hex")}"` });
      }
      if (request.headers.authorization !== `Bearer ${TOKEN}`) throw new Rejection(401, 10000, "Authentication error");
      let result = await this.ask(name, { url, body, request });
      // The first page contains all results, so other pages are empty.
      if (Array.isArray(result) && Number(url.searchParams.get("page") ?? 1) > 1) result = [];
      const pageInfo = Array.isArray(result)
        ? { result_info: { page: 1, per_page: 100, count: result.length, total_count: result.length, total_pages: 1 } }
        : {};
      if (path === "/graphql") return send(200, { data: result });
      if (Buffer.isBuffer(result)) return response.writeHead(200).end(result);
      return send(200, { success: true, errors: [], messages: [], result, ...pageInfo });
    } catch (error) {
      const { status = 500, code = 1, message } = error;
      return send(status, { success: false, errors: [{ code, message }], messages: [], result: null });
    }
  }

  /** Handles a request, by "METHOD path". Returns its result, or throws if the request is rejected. */
  async ask(name, { url = new URL("http://localhost"), body = Buffer.alloc(0), request } = {}) {
    if (this.rejectedRequests?.test(name)) throw new Rejection(400, 7003, "the test rejects this request");
    const route = ROUTES.find(([pattern]) => pattern.test(name));
    if (!route) {
      this.unknownRequests.push(name);
      throw new Rejection(404, 7000, `no route for ${name}`);
    }
    const [pattern, response] = route;
    return response.call(this, { url, body, request, json: () => JSON.parse(body), parts: name.match(pattern) });
  }

  /** Sends a request with a form or a JSON value, as wrangler would. It is recorded like any other. */
  async send(name, value, query = {}) {
    this.requests.push(name);
    const url = new URL(`http://localhost?${new URLSearchParams(query)}`);
    const sent = new Response(value instanceof FormData ? value : JSON.stringify(value));
    const request = { headers: Object.fromEntries(sent.headers) };
    return this.ask(name, { url, body: Buffer.from(await sent.arrayBuffer()), request });
  }

  /** The rows that a database has read in each of two hours, in the format of Cloudflare's analytics. */
  readsOf(id) {
    const of = { sum: { rowsRead: this.rowsRead.get(id), rowsWritten: 1 } };
    return [of, of];
  }

  database(id) {
    const found = this.databases.find(({ uuid }) => uuid === id);
    if (!found) throw new Rejection(404, 7404, "The database was not found");
    return found;
  }
}

/** The binding tables of wrangler.toml in `folder`, with their fields. */
function tablesOf(folder) {
  const tables = readFileSync(join(folder, "wrangler.toml"), "utf8").split(/^(?=\[)/m);
  const fields = (table) =>
    Object.fromEntries([...table.matchAll(/^(\w+) = "(.*)"$/gm)].map(([, name, text]) => [name, text]));
  return tables.map(fields).filter(({ binding }) => binding);
}

/** The table of a binding in wrangler.toml. */
function bound(folder, binding) {
  const table = tablesOf(folder).find((candidate) => candidate.binding === binding);
  if (!table) throw new Rejection(400, 1, `wrangler.toml has no binding ${binding}`);
  return table;
}

/**
 * The commands of wrangler that `npm run deploy` and the operator's commands use at Cloudflare, for WranglerStandIn. Each sends the
 * same requests to the fake API as the real wrangler. `current` returns that fake.
 */
export function commandsOf(current) {
  const namespace = (folder) => `/storage/kv/namespaces/${bound(folder, "CATALOG").id}`;
  const database = (folder, binding) => `/d1/database/${bound(folder, binding).database_id}`;
  const isSignedIn = () => process.env.CLOUDFLARE_API_TOKEN === TOKEN;
  const upload = async ({ folder, output, file }) => {
    const databases = tablesOf(folder).filter((table) => table.database_id);
    const secrets = file ? Object.entries(JSON.parse(readFileSync(file, "utf8"))) : [];
    const form = new FormData();
    const bindings = [
      ...databases.map(({ binding: name, database_id: id }) => ({ type: "d1", name, id })),
      ...secrets.map(([name, text]) => ({ type: "secret_text", name, text })),
    ];
    form.set("metadata", JSON.stringify({ bindings }));
    await current().send("PUT /workers/scripts/connector-vault", form);
    writeFileSync(output, JSON.stringify({ type: "deploy", targets: [] }));
    return "";
  };
  return [
    {
      form: "whoami --json",
      variant: () => (isSignedIn() ? "" : "not signed in"),
      reads: true,
      respond: () => {
        if (!isSignedIn()) throw new Rejection(401, 10000, "Authentication error");
        return {};
      },
    },
    { form: "kv namespace list", reads: true, respond: () => current().send("GET /storage/kv/namespaces") },
    {
      form: "kv namespace create TITLE",
      respond: ({ title }) => current().send("POST /storage/kv/namespaces", { title }),
    },
    { form: "d1 list --json", reads: true, respond: () => current().send("GET /d1/database") },
    { form: "d1 create NAME", respond: ({ name }) => current().send("POST /d1/database", { name }) },
    {
      form: "d1 info BINDING --json",
      variant: ({ folder, binding }) =>
        current().rowsRead.has(bound(folder, binding).database_id) ? "" : "nothing read",
      reads: true,
      respond: async ({ folder, binding }) => {
        const { uuid, name } = await current().send(`GET ${database(folder, binding)}`);
        const [{ sum }, other] = current().readsOf(uuid);
        return { uuid, name, ...(sum.rowsRead && { rows_read_24h: sum.rowsRead + other.sum.rowsRead }) };
      },
    },
    {
      form: "d1 execute BINDING --json --yes --command SQL --remote",
      respond: ({ folder, binding, sql }) => current().send(`POST ${database(folder, binding)}/query`, { sql }),
    },
    {
      form: "d1 execute BINDING --yes --file FILE --remote",
      // The first file is the schema: it verifies that the real wrangler does not split a trigger at its semicolons.
      respond: ({ folder, binding, file }) => {
        current().file = readFileSync(file, "utf8");
        return current().send(`POST ${database(folder, binding)}/import`, { action: "ingest" });
      },
    },
    {
      form: "queues info NAME",
      variant: ({ name }) => (current().queues.some((queue) => queue.queue_name === name) ? "" : "missing"),
      reads: true,
      respond: async ({ name }) => {
        const [found] = await current().send("GET /queues", null, { name });
        if (!found) throw new Rejection(404, 11000, `Queue "${name}" does not exist.`);
        return "";
      },
    },
    {
      form: "queues create NAME",
      respond: ({ name }) => current().send("POST /queues", { queue_name: name }),
    },
    {
      form: "secret list",
      variant: () => (current().uploads.length > 0 ? "" : "missing"),
      reads: true,
      respond: () => current().send("GET /workers/scripts/connector-vault/secrets"),
    },
    {
      form: "kv key list --binding CATALOG --remote",
      reads: true,
      respond: ({ folder }) => current().send(`GET ${namespace(folder)}/keys`),
    },
    {
      form: "kv key list --binding CATALOG --remote --prefix PREFIX",
      reads: true,
      respond: ({ folder, prefix }) => current().send(`GET ${namespace(folder)}/keys`, null, { prefix }),
    },
    {
      form: "kv bulk put FILE --binding CATALOG --remote",
      respond: ({ folder, file }) =>
        current().send(`PUT ${namespace(folder)}/bulk`, JSON.parse(readFileSync(file, "utf8"))),
    },
    {
      form: "kv bulk get FILE --binding CATALOG --remote",
      reads: true,
      respond: async ({ folder, file }) => {
        const keys = JSON.parse(readFileSync(file, "utf8"));
        return (await current().send(`POST ${namespace(folder)}/bulk/get`, { keys })).values;
      },
    },
    { form: "deploy --secrets-file FILE", isReal: true, respond: upload },
    { form: "deploy", respond: upload },
  ];
}

const META = { duration: 1, rows_read: 1, rows_written: 1, size_after: 1, changes: 0, last_row_id: 0 };
const databaseInfo = ({ uuid, name }) => ({ uuid, name, version: "production", created_at: "2026-11-22T00:00:00Z" });
const missingError = (kind) => new Rejection(404, 10007, `This ${kind} does not exist on your account.`);

const ROUTES = [
  [/^GET \/user$/, () => ({ id: "u", email: "ann@example.com" })],
  [/^GET \/user\/tokens\/verify$/, () => ({ id: "t", status: "active" })],
  [/^GET \/(accounts|memberships)$/, () => [{ id: ACCOUNT, name: "test", account: { id: ACCOUNT, name: "test" } }]],
  [
    /^GET \/storage\/kv\/namespaces$/,
    function () {
      return this.namespaces;
    },
  ],
  [
    /^POST \/storage\/kv\/namespaces$/,
    function ({ json }) {
      const made = { id: randomUUID().replaceAll("-", ""), title: json().title, supports_url_encoding: true };
      this.namespaces.push(made);
      return made;
    },
  ],
  [
    /^GET \/storage\/kv\/namespaces\/\w+\/keys$/,
    function ({ url }) {
      return [...this.values]
        .filter(([name]) => name.startsWith(url.searchParams.get("prefix") ?? ""))
        .map(([name, { metadata }]) => ({ name, ...(metadata ? { metadata } : {}) }));
    },
  ],
  [
    /^GET \/storage\/kv\/namespaces\/\w+\/values\/(.+)$/,
    function ({ parts }) {
      const found = this.values.get(decodeURIComponent(parts[1]));
      if (!found) throw new Rejection(404, 10009, "get: 'key not found'");
      return found.value;
    },
  ],
  [
    /^POST \/storage\/kv\/namespaces\/\w+\/bulk\/get$/,
    function ({ json }) {
      const { keys } = json();
      return { values: Object.fromEntries(keys.map((key) => [key, this.values.get(key)?.value.toString() ?? null])) };
    },
  ],
  [
    /^PUT \/storage\/kv\/namespaces\/\w+\/bulk$/,
    function ({ json }) {
      for (const { key, value, base64, metadata } of json())
        this.values.set(key, { value: Buffer.from(value, base64 ? "base64" : "utf8"), metadata });
      return { successful_key_count: json().length, unsuccessful_keys: [] };
    },
  ],
  [
    /^GET \/d1\/database$/,
    function () {
      return this.databases.map(databaseInfo);
    },
  ],
  [
    /^POST \/d1\/database$/,
    function ({ json }) {
      const made = { uuid: randomUUID(), name: json().name, sqlite: new DatabaseSync(":memory:") };
      this.databases.push(made);
      return databaseInfo(made);
    },
  ],
  [
    /^GET \/d1\/database\/([\w-]+)$/,
    function ({ parts }) {
      return databaseInfo(this.database(parts[1]));
    },
  ],
  [
    /^POST \/graphql$/,
    function ({ json }) {
      const { filter } = json().variables;
      return { viewer: { accounts: [{ d1AnalyticsAdaptiveGroups: this.readsOf(filter.AND[0].databaseId) }] } };
    },
  ],
  [
    /^POST \/d1\/database\/([\w-]+)\/query$/,
    function ({ parts, json }) {
      const { sqlite } = this.database(parts[1]);
      return statements(json().sql).map((sql) => ({ results: sqlite.prepare(sql).all(), success: true, meta: META }));
    },
  ],
  [
    /^POST \/d1\/database\/([\w-]+)\/import$/,
    function ({ parts, json }) {
      const { sqlite } = this.database(parts[1]);
      if (json().action === "init")
        return { upload_url: `http://127.0.0.1:${this.port}/upload/file.sql`, filename: "file.sql" };
      sqlite.exec(`BEGIN; ${this.file}; COMMIT`);
      return {
        type: "import",
        success: true,
        status: "complete",
        messages: [],
        result: { num_queries: 1, final_bookmark: "b", meta: META },
      };
    },
  ],
  [
    /^GET \/queues$/,
    function ({ url }) {
      return this.queues.filter(({ queue_name: name }) => name === (url.searchParams.get("name") ?? name));
    },
  ],
  [
    /^POST \/queues$/,
    function ({ json }) {
      const made = { queue_id: randomUUID(), producers: [], consumers: [], ...json() };
      this.queues.push(made);
      return made;
    },
  ],
  [
    /^POST \/queues\/([\w-]+)\/consumers$/,
    function ({ parts, json }) {
      const queue = this.queues.find(({ queue_id: id }) => id === parts[1]);
      queue.consumers.push({ consumer_id: randomUUID(), script: json().script_name, ...json() });
      return queue.consumers.at(-1);
    },
  ],
  [
    /^GET \/queues\/([\w-]+)\/consumers$/,
    function ({ parts }) {
      return this.queues.find(({ queue_id: id }) => id === parts[1]).consumers;
    },
  ],
  [/^PUT \/queues\/([\w-]+)\/consumers\/([\w-]+)$/, ({ json }) => json()],
  [
    /^GET \/workers\/services\/connector-vault$/,
    function () {
      if (this.uploads.length === 0) throw new Rejection(404, 10090, "workers.api.error.service_not_found");
      return {
        id: "connector-vault",
        default_environment: {
          environment: "production",
          script: { tag: "t", tags: null, last_deployed_from: "wrangler" },
        },
      };
    },
  ],
  [
    /^GET \/workers\/scripts\/connector-vault\/secrets$/,
    function () {
      if (this.uploads.length === 0) throw missingError("Worker");
      return Object.keys(this.secrets).map((name) => ({ name, type: "secret_text" }));
    },
  ],
  [/^POST \/workers\/scripts\/connector-vault\/assets-upload-session$/, () => ({ jwt: "e30.e30.e30", buckets: [] })],
  [
    /^(?:PUT|POST) \/workers\/scripts\/connector-vault(?:\/versions)?$/,
    async function ({ body, request }) {
      const form = await new Response(body, {
        headers: { "content-type": request.headers["content-type"] },
      }).formData();
      const metadata = JSON.parse(form.get("metadata"));
      for (const { type, name, text } of metadata.bindings) if (type === "secret_text") this.secrets[name] = text;
      this.uploads.push(metadata);
      return {
        id: "version",
        startup_time_ms: 1,
        deployment_id: "d",
        etag: "e",
        pipeline_hash: "p",
        mutable_pipeline_id: "m",
        tag: "t",
        metadata: { has_preview: false },
        resources: { script: {}, script_runtime: {} },
      };
    },
  ],
  [/^(?:GET|POST) \/workers\/scripts\/connector-vault\/deployments$/, () => ({ id: "d", deployments: [] })],
  [/^(?:GET|POST) \/workers\/scripts\/connector-vault\/subdomain$/, () => ({ enabled: true, previews_enabled: false })],
  [
    /^GET \/workers\/scripts\/connector-vault\/settings$/,
    function () {
      if (this.uploads.length === 0) throw missingError("Worker");
      return { bindings: [], compatibility_date: "2026-11-01", compatibility_flags: [] };
    },
  ],
  [/^PATCH \/workers\/scripts\/connector-vault\/script-settings$/, ({ json }) => json()],
  [
    /^(?:GET|PATCH|PUT) \/workers\/workers\/connector-vault$/,
    () => ({ id: "w", name: "connector-vault", subdomain: { enabled: true, previews_enabled: false } }),
  ],
  [/^GET \/workers\/subdomain$/, () => ({ subdomain: "ann" })],
  [
    /^PUT \/workers\/scripts\/connector-vault\/schedules$/,
    function ({ json }) {
      this.schedules = json();
      return { schedules: json() };
    },
  ],
];
