// Connections in D1: prepared statements in one batch per request, which includes the key's row.
import type { Context } from "hono";
import * as z from "zod";
import { KEY_SQL, authorize, principalOf } from "./auth";
import { type Fault, Problem } from "./problem";
import { connectionQuery, noQuery, readQuery } from "./query";
import type { Environment } from "./types";

const MAX_BODY = 64 << 10;
const COLUMNS =
  "c.id, c.platform_version, c.name, c.environment, c.platform, c.label, c.identity, c.identity_type, c.description, c.state, c.tags, c.version, c.active, c.created_at";
// Connections of the key's account and environment; none if the key is invalid.
const OWN_CONNECTIONS = `FROM api_keys k CROSS JOIN connections c ON c.account = k.account AND c.environment = k.environment
  WHERE k.hash = ?1 AND k.environment = ?2 AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > ?3)`;

type Row = Record<string, unknown>;

function connection(row: Row) {
  return {
    id: row.id,
    platformVersion: row.platform_version,
    name: row.name,
    type: "api",
    key: `${row.environment}::${row.platform}::${row.label}::${row.identity}`,
    environment: row.environment,
    platform: row.platform,
    identity: row.identity,
    identityType: row.identity_type,
    description: row.description,
    state: row.state,
    tags: JSON.parse(row.tags as string) as string[],
    version: String(row.version),
    active: row.active === 1,
    createdAt: new Date(row.created_at as number).toISOString(),
  };
}

/** Conditions with numbered parameters. The first three belong to the key. */
class Where {
  sql = "";
  readonly params: (string | number)[];

  constructor(c: Context<Environment>) {
    this.params = [c.get("hash"), c.get("secret").slice(3, 7), Date.now()];
  }

  and(condition: (place: string) => string, value: string | number | undefined): this {
    if (value === undefined) return this;
    this.params.push(value);
    this.sql += ` AND ${condition(`?${this.params.length}`)}`;
    return this;
  }
}

function conditions(c: Context<Environment>, query: z.infer<typeof connectionQuery>): Where {
  const { tags, tagsMatch = "all", key, q } = query;
  const tagCondition = (place: string) =>
    tagsMatch === "any"
      ? `EXISTS (SELECT 1 FROM json_each(${place}) t JOIN json_each(c.tags) o ON o.value = t.value)`
      : `NOT EXISTS (SELECT 1 FROM json_each(${place}) t WHERE t.value NOT IN (SELECT value FROM json_each(c.tags)))`;
  return new Where(c)
    .and((p) => `c.active = ${p}`, Number(query.active))
    .and((p) => `c.platform = ${p}`, query.platform?.toLowerCase())
    .and((p) => `c.platform_version = ${p}`, query.platformVersion)
    .and((p) => `c.identity_type = ${p}`, query.identityType)
    .and((p) => `c.identity = ${p}`, query.identity)
    .and((p) => `c.name_folded = ${p}`, query.name?.toLowerCase())
    .and(
      (p) =>
        `c.environment || '::' || c.platform || '::' || c.label || '::' || c.identity IN (SELECT value FROM json_each(${p}))`,
      key && JSON.stringify(key),
    )
    .and(tagCondition, tags && JSON.stringify(tags))
    .and(
      (p) => `(substr(c.identity_folded, 1, length(${p})) = ${p} OR substr(c.name_folded, 1, length(${p})) = ${p})`,
      q?.toLowerCase(),
    );
}

export async function listConnections(c: Context<Environment>): Promise<Response> {
  const { VAULT } = c.env;
  let query: z.infer<typeof connectionQuery>;
  try {
    query = readQuery(c.req.url, connectionQuery);
  } catch (problem) {
    // Reads the key first, because an invalid key takes precedence over an invalid query.
    const [key] = await VAULT.batch([VAULT.prepare(KEY_SQL).bind(c.get("hash"))]);
    authorize(principalOf(key?.results[0], c.get("secret")), "connections:read");
    throw problem;
  }
  const where = conditions(c, query);
  const [limit, offset] = [query.limit, query.limit * (query.page - 1)];
  const count = where.params.length;
  const [key, total, rows] = await VAULT.batch([
    VAULT.prepare(KEY_SQL).bind(c.get("hash")),
    VAULT.prepare(`SELECT count(*) AS total ${OWN_CONNECTIONS}${where.sql}`).bind(...where.params),
    VAULT.prepare(
      `SELECT ${COLUMNS} ${OWN_CONNECTIONS}${where.sql} ORDER BY c.created_at DESC, c.id DESC LIMIT ?${count + 1} OFFSET ?${count + 2}`,
    ).bind(...where.params, limit, offset),
  ]);
  authorize(principalOf(key?.results[0], c.get("secret")), "connections:read");
  const all = Number(total?.results[0]?.total ?? 0);
  const envelope = {
    rows: (rows?.results ?? []).map(connection),
    total: all,
    pages: Math.ceil(all / limit),
    page: query.page,
  };
  return c.json(envelope, 200, { "cache-control": "private, no-store" });
}

const ID_PATTERN = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const SELECT_ONE = `SELECT ${COLUMNS} ${OWN_CONNECTIONS} AND c.id = ?4`;
const etagOf = (row: Row) => `"${row.id}-${row.version}"`;
const notFound = () => new Problem("connection_not_found", "The vault has no such connection.");

function answerOne(c: Context<Environment>, row: Row): Response {
  return c.json(connection(row), 200, { "cache-control": "private, no-store", etag: etagOf(row) });
}

export async function readConnection(c: Context<Environment>): Promise<Response> {
  const { VAULT } = c.env;
  const id = c.req.param("id") ?? "";
  const [key, found] = await VAULT.batch([
    VAULT.prepare(KEY_SQL).bind(c.get("hash")),
    VAULT.prepare(SELECT_ONE).bind(...new Where(c).params, ID_PATTERN.test(id) ? id.toLowerCase() : ""),
  ]);
  authorize(principalOf(key?.results[0], c.get("secret")), "connections:read");
  readQuery(c.req.url, noQuery);
  const [row] = found?.results ?? [];
  if (!row) throw notFound();
  return answerOne(c, row);
}

const TAG_RULE = "must have 1 to 128 characters, no comma, no control character and no white space at either end";
const patch = z.strictObject({
  tags: z
    .array(
      z
        .string("must be a string")
        .refine(
          (tag) =>
            tag.isWellFormed() && [...tag].length <= 128 && /^[^\s,\p{Cc}](?:[^,\p{Cc}]*[^\s,\p{Cc}])?$/u.test(tag),
          TAG_RULE,
        ),
      "must be a list of strings",
    )
    .max(50, "must have at most 50 items")
    .optional(),
});

async function readBody(c: Context<Environment>): Promise<z.infer<typeof patch>> {
  if (!/^application\/json\s*(;|$)/i.test(c.req.header("content-type") ?? "")) {
    throw new Problem("unsupported_media_type", "Send the body as `Content-Type: application/json`.");
  }
  const tooLarge = () => new Problem("body_too_large", "The body may have at most 64 KiB.");
  if (Number(c.req.header("content-length")) > MAX_BODY) throw tooLarge();
  const bytes = await c.req.arrayBuffer();
  if (bytes.byteLength > MAX_BODY) throw tooLarge();
  const bodyProblem = (detail: string) => Problem.of([{ code: "invalid_body", pointer: "", detail }]);
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    throw bodyProblem("The body is not valid JSON in UTF-8.");
  }
  const result = patch.safeParse(value);
  if (result.success) return result.data;
  const faults = result.error.issues.flatMap((issue): Fault[] => {
    const paths = issue.code === "unrecognized_keys" ? issue.keys.map((name) => [...issue.path, name]) : [issue.path];
    return paths.map((path) => {
      const pointer = path.map((step) => `/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
      return { code: "invalid_body", pointer, detail: `\`${path.join("/")}\` ${issue.message}` };
    });
  });
  throw Problem.of(faults as [Fault, ...Fault[]]);
}

/** The versions in `If-Match`; undefined for any. */
function versionsOf(header: string | undefined, id: string): number[] | undefined {
  if (header === undefined || header.trim() === "*") return undefined;
  const ownTag = new RegExp(`^"${id}-([1-9]\\d*)"$`);
  return header
    .split(",")
    .flatMap((tag) => ownTag.exec(tag.trim())?.[1] ?? [])
    .map(Number);
}

export async function updateConnection(c: Context<Environment>): Promise<Response> {
  const { VAULT } = c.env;
  const id = (c.req.param("id") ?? "").toLowerCase();
  const key = VAULT.prepare(KEY_SQL).bind(c.get("hash"));
  const rowStatement = VAULT.prepare(SELECT_ONE).bind(...new Where(c).params, ID_PATTERN.test(id) ? id : "");
  let body: z.infer<typeof patch>;
  try {
    readQuery(c.req.url, noQuery);
    body = await readBody(c);
  } catch (problem) {
    const [set] = await VAULT.batch([key]);
    authorize(principalOf(set?.results[0], c.get("secret")), "connections:write");
    throw problem;
  }
  const versions = versionsOf(c.req.header("if-match"), id);
  const tags = body.tags && JSON.stringify(body.tags);
  const change = VAULT.prepare(
    `UPDATE connections AS c SET version = version + 1, tags = ?5, written_by = ?6 WHERE tags <> ?5
       AND (?7 IS NULL OR version IN (SELECT value FROM json_each(?7)))
       AND seq = (SELECT c.seq ${OWN_CONNECTIONS} AND ' ' || k.scopes || ' ' LIKE '% connections:write %' AND c.id = ?4)`,
  );
  const results = await VAULT.batch([
    key,
    rowStatement,
    ...(tags === undefined
      ? []
      : [
          change.bind(
            ...new Where(c).params,
            ID_PATTERN.test(id) ? id : "",
            tags,
            c.get("requestId"),
            versions ? JSON.stringify(versions) : null,
          ),
          rowStatement,
        ]),
  ]);
  authorize(principalOf(results[0]?.results[0], c.get("secret")), "connections:write");
  const before = results[1]?.results[0];
  if (!before) throw notFound();
  if (versions && !versions.includes(before.version as number)) {
    throw new Problem("precondition_failed", "The connection is not in the state that `If-Match` names.");
  }
  return answerOne(c, results.at(-1)?.results[0] ?? before);
}
