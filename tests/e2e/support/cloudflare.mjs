// A stand-in of Cloudflare's API, as far as wrangler asks for it in `npm run deploy`: an account that is empty at first.
import { createHash, randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { DatabaseSync } from "node:sqlite";
import { listen } from "./listening.mjs";

export const ACCOUNT = "a".repeat(32);
const TOKEN = "stand-in";

/** The statements of a text; none of them holds a semicolon in quotes or a trigger. */
const statements = (sql) => sql.split(";").filter((one) => one.trim() !== "");

class Refusal extends Error {
  constructor(status, code, message) {
    super(message);
    Object.assign(this, { status, code });
  }
}

export class CloudflareApi {
  namespaces = [];
  databases = [];
  /** Of each database, by its id: what it has read in each of two hours. */
  rowsRead = new Map();
  queues = [];
  values = new Map();
  secrets = {};
  /** The metadata of each upload of the Worker. */
  uploads = [];
  schedules = [];
  /** The method and path of each request. */
  asked = [];
  /** Every request whose "METHOD path" matches is refused. */
  broken = undefined;
  /** Requests that nothing here knows. */
  unknown = [];

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

  /** What wrangler needs to ask this instead of Cloudflare. */
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
    this.asked.push(name);
    const send = (status, value, headers = {}) => {
      response.writeHead(status, { "content-type": "application/json", ...headers });
      response.end(JSON.stringify(value));
    };
    try {
      if (name.startsWith("PUT /upload/")) {
        this.file = body.toString();
        return send(200, {}, { etag: `"${createHash("md5").update(body).digest("hex")}"` });
      }
      if (request.headers.authorization !== `Bearer ${TOKEN}`) throw new Refusal(401, 10000, "Authentication error");
      if (this.broken?.test(name)) throw new Refusal(400, 7003, "this request is refused by the test");
      const found = ROUTES.find(([pattern]) => pattern.test(name));
      if (!found) {
        this.unknown.push(name);
        throw new Refusal(404, 7000, `no route for ${name}`);
      }
      const [pattern, answer] = found;
      let result = await answer.call(this, {
        url,
        body,
        request,
        json: () => JSON.parse(body),
        parts: name.match(pattern),
      });
      // Everything is on the first page.
      if (Array.isArray(result) && Number(url.searchParams.get("page") ?? 1) > 1) result = [];
      const paged = Array.isArray(result)
        ? { result_info: { page: 1, per_page: 100, count: result.length, total_count: result.length, total_pages: 1 } }
        : {};
      if (path === "/graphql") return send(200, { data: result });
      if (Buffer.isBuffer(result)) return response.writeHead(200).end(result);
      return send(200, { success: true, errors: [], messages: [], result, ...paged });
    } catch (error) {
      const { status = 500, code = 1, message } = error;
      return send(status, { success: false, errors: [{ code, message }], messages: [], result: null });
    }
  }

  database(id) {
    const found = this.databases.find(({ uuid }) => uuid === id);
    if (!found) throw new Refusal(404, 7404, "The database was not found");
    return found;
  }
}

const META = { duration: 1, rows_read: 1, rows_written: 1, size_after: 1, changes: 0, last_row_id: 0 };
const shown = ({ uuid, name }) => ({ uuid, name, version: "production", created_at: "2026-11-22T00:00:00Z" });
const missing = (kind) => new Refusal(404, 10007, `This ${kind} does not exist on your account.`);

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
    function () {
      return [...this.values].map(([name, { metadata }]) => ({ name, ...(metadata ? { metadata } : {}) }));
    },
  ],
  [
    /^GET \/storage\/kv\/namespaces\/\w+\/values\/(.+)$/,
    function ({ parts }) {
      const found = this.values.get(decodeURIComponent(parts[1]));
      if (!found) throw new Refusal(404, 10009, "get: 'key not found'");
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
      return this.databases.map(shown);
    },
  ],
  [
    /^POST \/d1\/database$/,
    function ({ json }) {
      const made = { uuid: randomUUID(), name: json().name, sqlite: new DatabaseSync(":memory:") };
      this.databases.push(made);
      return shown(made);
    },
  ],
  [
    /^GET \/d1\/database\/([\w-]+)$/,
    function ({ parts }) {
      return shown(this.database(parts[1]));
    },
  ],
  [
    /^POST \/graphql$/,
    function ({ json }) {
      const { filter } = json().variables;
      const of = { sum: { rowsRead: this.rowsRead.get(filter.AND[0].databaseId), rowsWritten: 1 } };
      return { viewer: { accounts: [{ d1AnalyticsAdaptiveGroups: [of, of] }] } };
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
      if (this.uploads.length === 0) throw new Refusal(404, 10090, "workers.api.error.service_not_found");
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
      if (this.uploads.length === 0) throw missing("Worker");
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
      if (this.uploads.length === 0) throw missing("Worker");
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
