// The two lists of the catalog: rows as JSON in KV, parsed once per isolate.
import type { Context } from "hono";
import type { z } from "zod";
import { nearest } from "./nearest";
import { Problem } from "./problem";
import { actionQuery, connectorQuery, readQuery } from "./query";
import { type Searchable, search } from "./search";
import type { Action, Bindings, Connector, Environment } from "./types";

/** `current` in KV; the lists of a version never change. */
interface Current {
  version: string;
  authkit: string[];
}

const CACHE_MS = 30_000;
let current: { record: Current; since: number } | undefined;

class List<T> {
  #searchable: Searchable[] | undefined;

  constructor(
    readonly rows: T[],
    readonly valuesOf: (row: T) => Searchable,
  ) {}

  search(q: string, shared?: string): T[] {
    this.#searchable ??= this.rows.map(this.valuesOf);
    return search(this.rows, this.#searchable, q, shared);
  }
}

const connectorLists = new Map<string, List<Connector>>();
const actionLists = new Map<string, List<Action>>();
const fold = (text: string) => text.toLowerCase();

async function readCurrent({ CATALOG }: Bindings): Promise<Current> {
  if (current && Date.now() - current.since < CACHE_MS) return current.record;
  const record = await CATALOG.get<Current>("current", "json");
  if (!record) throw new Problem("unavailable", "The service can't reach its storage. Try again shortly.");
  if (record.version !== current?.record.version) {
    connectorLists.clear();
    actionLists.clear();
  }
  current = { record, since: Date.now() };
  return record;
}

async function list<T>(
  lists: Map<string, List<T>>,
  { CATALOG }: Bindings,
  key: string,
  valuesOf: (row: T) => Searchable,
) {
  const known = lists.get(key);
  if (known) return known;
  const rows = await CATALOG.get<T[]>(key, "json");
  if (!rows) return undefined;
  const created = new List(rows, valuesOf);
  lists.set(key, created);
  return created;
}

async function connectors(env: Bindings, version: string): Promise<List<Connector>> {
  const found = await list(
    connectorLists,
    env,
    `connectors:${version}`,
    ({ name, key, platform, category, tags, description }) => [
      [fold(name)],
      [key, platform, category, ...tags, description].map(fold),
    ],
  );
  if (!found) throw new Problem("unavailable", "The service can't reach its storage. Try again shortly.");
  return found;
}

function page<T>(
  c: Context<Environment>,
  etag: string,
  rows: T[],
  { limit, page }: { limit: number; page: number },
): Response {
  const start = limit * (page - 1);
  const envelope = {
    rows: rows.slice(start, start + limit),
    total: rows.length,
    pages: Math.ceil(rows.length / limit),
    page,
  };
  return c.body(JSON.stringify(envelope), 200, {
    "content-type": "application/json",
    "cache-control": "private, no-cache",
    etag,
  });
}

/** Sets the entity tag. Returns whether the caller already has this version. */
function isKnown(c: Context<Environment>, etag: string): boolean {
  const sent = c.req.header("if-none-match");
  return sent?.split(",").some((tag) => ["*", etag].includes(tag.trim().replace(/^W\//, "")));
}

const notModified = (c: Context<Environment>, etag: string) =>
  c.body(null, 304, { "cache-control": "private, no-cache", etag });

function filterConnectors(rows: Connector[], query: z.infer<typeof connectorQuery>, authkit: string[]): Connector[] {
  const [platform, name, category] = [query.platform, query.name, query.category].map((text) => text?.toLowerCase());
  const { key } = query;
  return rows.filter(
    (row) =>
      (platform === undefined || row.platform === platform) &&
      (key === undefined || row.key === key) &&
      (name === undefined || fold(row.name) === name) &&
      (category === undefined || fold(row.category) === category) &&
      (!query.authkit || authkit.includes(row.platform)),
  );
}

export async function listConnectors(c: Context<Environment>): Promise<Response> {
  const query = readQuery(c.req.url, connectorQuery);
  const { version, authkit } = await readCurrent(c.env);
  const etag = `"${version}${new URL(c.req.url).search}"`;
  if (isKnown(c, etag)) return notModified(c, etag);
  const all = await connectors(c.env, version);
  const found = query.q === undefined ? all.rows : all.search(query.q);
  const isFiltered = query.platform ?? query.key ?? query.name ?? query.category;
  return page(
    c,
    etag,
    isFiltered !== undefined || query.authkit ? filterConnectors(found, query, authkit) : found,
    query,
  );
}

function filterActions(rows: Action[], query: z.infer<typeof actionQuery>): Action[] {
  const [title, method] = [query.title?.toLowerCase(), query.method?.toUpperCase()];
  const { key } = query;
  return rows.filter(
    (row) =>
      (key === undefined || row.key === key) &&
      (method === undefined || row.method === method) &&
      (title === undefined || fold(row.title) === title),
  );
}

export async function listActions(c: Context<Environment>): Promise<Response> {
  const query = readQuery(c.req.url, actionQuery);
  const requested = c.req.param("platform") ?? "";
  const { version } = await readCurrent(c.env);
  const platform = fold(requested);
  const all = await list(actionLists, c.env, `actions:${version}:${platform.slice(0, 64)}`, ({ title, key }) => [
    [fold(title)],
    [fold(key)],
  ]);
  if (!all) {
    const platforms = (await connectors(c.env, version)).rows.map((row) => row.platform);
    const suggestions = nearest(requested, platforms, 3);
    const detail = `The catalog has no platform \`${requested.slice(0, 64)}\``;
    if (suggestions.length === 0) throw new Problem("platform_not_found", `${detail}.`);
    const names = suggestions.map((name) => `\`${name}\``).join(", ");
    throw new Problem("platform_not_found", `${detail}; nearest: ${names}.`, { suggestions });
  }
  const etag = `"${version}-${platform}${new URL(c.req.url).search}"`;
  if (isKnown(c, etag)) return notModified(c, etag);
  const found = query.q === undefined ? all.rows : all.search(query.q, platform);
  return page(c, etag, (query.title ?? query.key ?? query.method) ? filterActions(found, query) : found, query);
}
