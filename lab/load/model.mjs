// A model that predicts every response of a vault that several callers change. Each caller changes only connections of its own
// identity, all at one platform, and no list filters by that platform.
import { isDeepStrictEqual } from "node:util";
import { randomInt, randomUUID } from "node:crypto";
import { Problem } from "../../scripts/lib/problem.mjs";

export const CONNECTIONS = "/v1/vault/connections";
const LIMIT = 20;
/** The fields that lists filter by. */
const FILTER_FIELDS = ["platform", "identity", "key"];

export const pickRandom = (list) => list[randomInt(list.length)];

/** Fails unless a response equals the expected one. */
export function expectSame(what, actual, expected) {
  if (isDeepStrictEqual(actual, expected)) return;
  const formatted = (value) => (JSON.stringify(value) ?? "nothing").slice(0, 2000);
  throw new Problem(`Wrong response: ${what}`, {
    output: `is:        ${formatted(actual)}\nshould be: ${formatted(expected)}`,
  });
}

export class Model {
  /** The connections that exist at the start and that no caller changes, in the service's order. */
  rows = [];
  /** The platform of the connections that callers change. */
  #platform;
  /** Active connections by query: "platform=github" → [connection]. */
  #lists = new Map();

  /** Reads all pages of a vault. Callers will change connections of `platform`. */
  static async read(sendRequest, platform) {
    const model = new Model();
    model.#platform = platform;
    for (const active of [true, false]) {
      for (let path = `${CONNECTIONS}?active=${active}&limit=500`; path; ) {
        const { body, next } = await sendRequest(path);
        model.rows.push(...body.rows);
        path = next;
      }
    }
    for (const row of model.rows.filter(({ active }) => active)) {
      for (const name of FILTER_FIELDS) {
        const filter = `${name}=${encodeURIComponent(row[name])}`;
        if (!model.#lists.has(filter)) model.#lists.set(filter, []);
        model.#lists.get(filter).push(row);
      }
    }
    model.platforms = [...new Set(model.rows.map((row) => row.platform))];
    return model;
  }

  /** Requests a random page of a random list, and compares it with the model. */
  async list(sendRequest) {
    const row = pickRandom(this.rows);
    // Other requests change the connections of `#platform`, so only unique fields filter its rows.
    const name = pickRandom(row.platform === this.#platform ? ["identity", "key"] : FILTER_FIELDS);
    const filter = `${name}=${encodeURIComponent(row[name])}`;
    const all = this.#lists.get(filter) ?? [];
    const pages = Math.max(1, Math.ceil(all.length / LIMIT));
    const page = 1 + randomInt(Math.min(pages, 5));
    const path = `${CONNECTIONS}?${filter}&active=true&limit=${LIMIT}&page=${page}`;
    const { body } = await sendRequest(path);
    expectSame(path, body, {
      rows: all.slice((page - 1) * LIMIT, page * LIMIT),
      total: all.length,
      pages: Math.ceil(all.length / LIMIT),
      page,
    });
  }

  /** Requests a random connection, and compares it with the model. */
  async read(sendRequest) {
    const known = pickRandom(this.rows);
    expectSame(known.id, (await sendRequest(`${CONNECTIONS}/${known.id}`)).body, known);
  }

  caller(at) {
    return new Caller(this.#platform, `load-caller-${at}`);
  }
}

/** A caller that creates, changes and deletes connections, and records their expected state. */
class Caller {
  /** The caller's connections, newest first. */
  #own = [];
  #platform;
  #identity;

  constructor(platform, identity) {
    this.#platform = platform;
    this.#identity = identity;
  }

  async write(sendRequest) {
    const how = this.#own.length < 3 ? "create" : pickRandom(["create", "tag", "name", "delete"]);
    if (how === "create") {
      const body = { platform: this.#platform, identity: this.#identity, identityType: "user", label: randomUUID() };
      this.#own.unshift((await sendRequest(CONNECTIONS, { method: "POST", body, status: 201 })).body);
      return;
    }
    const at = randomInt(this.#own.length);
    const known = this.#own[at];
    const { id, version } = known;
    if (how === "delete") {
      await sendRequest(`${CONNECTIONS}/${id}`, { method: "DELETE", status: 204 });
      this.#own.splice(at, 1);
      return;
    }
    const change = how === "tag" ? { tags: [randomUUID()] } : { name: randomUUID() };
    const [path, method] = how === "tag" ? [`${CONNECTIONS}/${id}`, "PATCH"] : [`${CONNECTIONS}/${id}/name`, "PUT"];
    const { body } = await sendRequest(path, { method, body: change });
    expectSame(id, body, { ...known, ...change, version: String(Number(version) + 1) });
    this.#own[at] = body;
  }

  /** Compares the list with the expected connections. */
  async expectAll(sendRequest) {
    const path = `${CONNECTIONS}?identity=${this.#identity}&active=true&limit=500`;
    const { body } = await sendRequest(path);
    const byId = (rows) => [...rows].sort((a, b) => (a.id < b.id ? -1 : 1));
    expectSame(path, byId(body.rows), byId(this.#own.slice(0, 500)));
    expectSame(path, body.total, this.#own.length);
  }
}
