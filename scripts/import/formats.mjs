// The formats of other services: each row becomes a connection to import, or a reason why it can't be imported.
import { Problem } from "../lib/problem.mjs";
import { readCsv, readJson } from "./read.mjs";

/**
 * A connection in the file. `names` are the other service's names for its platform, the most specific one first.
 * `leftOut` names what the row has and a connection here can't have.
 * @typedef {{ names: string[], identity: string, integration?: string, connection?: string, name?: string, tags?: string[],
 *   label?: string, identityType?: string, authMethod?: string, client?: string, clientId?: string, credentials: Credentials,
 *   leftOut?: string[] }} Draft
 *
 * Credentials whose type at the platform is not known yet. `own` has the values of the platform's fields, by the names that
 * the other service gives them.
 * @typedef {{ kind: "oauth2" | "key" | "token" | "basic" | "exact", values: Record<string, unknown>,
 *   own: Record<string, string> }} Credentials
 *
 * @typedef {{ location: string, draft: Draft } | { location: string, outcome: "skipped" | "failed", reason: string, about?: string }} Row
 */

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const textOf = (value) => (typeof value === "string" && value !== "" ? value : undefined);
const textsOf = (value) =>
  Object.fromEntries(Object.entries(isObject(value) ? value : {}).filter(([, text]) => textOf(text)));
const scopesOf = (value) => (Array.isArray(value) ? value : (textOf(value)?.split(/[\s,]+/) ?? [])).filter(textOf);
const withoutUndefined = (object) =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));

/** Converts a date, or seconds or milliseconds since 1970, to RFC 3339. */
function timeOf(value) {
  const number = typeof value === "number" ? value : Number.NaN;
  const time = new Date(Number.isNaN(number) ? (textOf(value) ?? Number.NaN) : number < 1e11 ? number * 1000 : number);
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}

const oauth2 = ({ accessToken, refreshToken, expiresAt, scopes }, own) => ({
  kind: /** @type {const} */ ("oauth2"),
  values: withoutUndefined({ accessToken, refreshToken, expiresAt, scopes: scopes.length > 0 ? scopes : undefined }),
  own,
});

/** The items in one or more API responses. */
function* itemsOf(values, members) {
  for (const value of values) {
    const inner = isObject(value) ? members.map((member) => value[member]).find(Array.isArray) : undefined;
    if (Array.isArray(value)) yield* value;
    else if (inner) yield* inner;
    else yield value;
  }
}

const failed = (reason) => ({ outcome: /** @type {const} */ ("failed"), reason });
const skipped = (reason) => ({ outcome: /** @type {const} */ ("skipped"), reason });

/** The maximum number of tags of a connection, and of characters in a tag. */
const [MAX_TAGS, MAX_TAG] = [50, 128];
const isTag = (text) =>
  [...text].length <= MAX_TAG &&
  text === text.trim() &&
  text === text.normalize("NFC") &&
  !/[,\p{C}\p{Zl}\p{Zp}]/u.test(text);

/** Nango's tags that become the identity and the name of a connection. */
const USER_TAGS = ["end_user_id", "end_user_display_name", "end_user_email"];

/**
 * Converts Nango's tags, which have a name and a value, to tags here: `plan:pro`. The organization of the older `end_user`
 * becomes the tag that Nango documents for it.
 */
function tagsOf({ tags, metadata }, { organization }) {
  const entries = Object.entries({
    ...(textOf(organization?.id) && { organization_id: organization.id }),
    ...textsOf(tags),
  }).filter(([name]) => !USER_TAGS.includes(name));
  const all = entries.map(([name, value]) => `${name}:${value}`);
  const valid = all.filter(isTag).slice(0, MAX_TAGS);
  const leftOut = [
    ...(isObject(metadata) && Object.keys(metadata).length > 0 ? ["metadata"] : []),
    ...(valid.length < all.length ? ["tags"] : []),
  ];
  return { tags: valid.length > 0 ? valid : undefined, leftOut: leftOut.length > 0 ? leftOut : undefined };
}

/**
 * A connection as `GET /connection/{id}` of Nango's API returns it, https://nango.dev/docs/reference/api/connection/get, or
 * a row of its table `_nango_connections` as JSON, whose credentials were decrypted.
 */
function fromNango(item) {
  // The API of Nango's dashboard nests the connection.
  const inner = isObject(item.data) ? item.data : item;
  const connection = isObject(inner.connection) ? { ...inner, ...inner.connection } : inner;
  const integration = textOf(connection.provider_config_key);
  const provider = textOf(connection.provider) ?? integration;
  const connectionId = textOf(connection.connection_id);
  if (!provider || !connectionId) return failed("has no `provider_config_key` or no `connection_id`");
  const user = connection.end_user ?? connection.endUser ?? {};
  const identity = textOf(user.id) ?? textOf(connection.tags?.end_user_id) ?? connectionId;
  const about = {
    names: [...new Set([integration, provider].filter(Boolean))],
    identity,
    integration,
    connection: connectionId,
  };
  const credentials = isObject(connection.credentials) ? connection.credentials : {};
  const config = textsOf(connection.connection_config);
  const fail = (reason) => ({ ...failed(reason), about: `${provider}  ${identity}` });
  if (connection.deleted === true) return skipped("was deleted");
  if (textOf(credentials.encrypted_credentials))
    return fail("has encrypted credentials: export it with `GET /connection/{id}` of Nango's API");
  const draft = (kind, clientId) => ({
    draft: withoutUndefined({
      ...about,
      name:
        textOf(user.display_name) ??
        textOf(connection.tags?.end_user_display_name) ??
        textOf(user.email) ??
        textOf(connection.tags?.end_user_email),
      ...tagsOf(connection, user),
      clientId,
      credentials: kind,
    }),
  });
  switch (credentials.type) {
    case undefined:
      return fail("has no credentials: lists don't contain them, only `GET /connection/{id}` does");
    case "NONE":
      return { ...skipped("needs no credentials"), about: `${provider}  ${identity}` };
    case "OAUTH2": {
      const tokens = {
        accessToken: textOf(credentials.access_token),
        refreshToken: textOf(credentials.refresh_token),
        expiresAt: timeOf(credentials.expires_at),
        scopes: scopesOf(credentials.raw?.scope ?? connection.connection_config?.oauth_scopes),
      };
      return draft(oauth2(tokens, config), textOf(credentials.config_override?.client_id));
    }
    case "API_KEY":
      return draft({ kind: "key", values: { apiKey: credentials.apiKey ?? credentials.api_key }, own: config });
    case "BASIC":
      return draft({
        kind: "basic",
        values: { username: credentials.username, password: credentials.password },
        own: config,
      });
    case "OAUTH2_CC":
      return fail("has client credentials: set them as the platform's OAuth client, and connect");
    default:
      return fail("has credentials of a type that this service does not have");
  }
}

/** The values that Composio returns instead of secrets: https://docs.composio.dev/docs/troubleshooting/authentication. */
const isRedacted = (text) => typeof text === "string" && (/REDACTED/i.test(text) || /(\.\.\.|…|\*{3,})$/.test(text));

/** Members of Composio's state that are not fields of the platform. */
const COMPOSIO_FIELDS =
  /^(status|.*token.*|.*_key|.*secret|username|password|authUri|.*[uU]rl|.*_uri|code_verifier|scope|expires_in|expired_at|error.*|id_token|finalRedirectUri)$/;

/**
 * A connected account as `GET /api/v3/connected_accounts/{id}` of Composio's API returns it,
 * https://docs.composio.dev/reference/api-reference/connected-accounts/getConnectedAccountsByNanoid.
 */
function fromComposio(item) {
  const toolkit = textOf(item.toolkit?.slug) ?? textOf(item.appName);
  const identity = textOf(item.user_id) ?? textOf(item.clientUniqueUserId) ?? textOf(item.entityId);
  const id = textOf(item.id);
  if (!toolkit || !identity) return failed("has no `toolkit.slug` or no `user_id`");
  const scheme = item.state?.authScheme ?? item.auth_config?.auth_scheme;
  const values =
    [item.state?.val, item.data, item.params].find((values) => isObject(values) && Object.keys(values).length > 0) ??
    {};
  const about = `${toolkit}  ${identity}`;
  if (textOf(item.status) && item.status !== "ACTIVE") return { ...skipped(`is not active`), about };
  if (Object.values(values).some(isRedacted)) {
    const reason =
      item.auth_config?.is_composio_managed === true
        ? "has redacted tokens, which belong to Composio's own OAuth app: the user must connect again"
        : "has redacted credentials: turn off “Mask Connected Account Secrets” in the project settings, and export again";
    return { ...failed(reason), about };
  }
  const own = Object.fromEntries(Object.entries(textsOf(values)).filter(([name]) => !COMPOSIO_FIELDS.test(name)));
  const draft = (credentials) => ({
    draft: withoutUndefined({
      names: [toolkit],
      identity,
      integration: textOf(item.auth_config?.id),
      connection: id,
      credentials,
    }),
  });
  switch (scheme) {
    case "OAUTH2": {
      const since = timeOf(item.updated_at ?? item.created_at);
      const seconds = Number(values.expires_in);
      const expiresAt = since && seconds > 0 ? new Date(Date.parse(since) + seconds * 1000).toISOString() : undefined;
      const tokens = {
        accessToken: textOf(values.access_token),
        refreshToken: textOf(values.refresh_token),
        expiresAt: timeOf(values.expires_at) ?? expiresAt,
        scopes: scopesOf(values.scope),
      };
      return draft(oauth2(tokens, own));
    }
    case "API_KEY":
      return draft({ kind: "key", values: { apiKey: values.generic_api_key ?? values.api_key }, own });
    case "BEARER_TOKEN":
      return draft({ kind: "token", values: { token: values.token ?? values.bearer_token }, own });
    case "BASIC":
      return draft({ kind: "basic", values: { username: values.username, password: values.password }, own });
    case "NO_AUTH":
      return { ...skipped("needs no credentials"), about };
    default:
      return { ...failed("has credentials of a type that this service does not have"), about };
  }
}

/** The columns of a CSV file, in addition to `fields.<name>`. */
export const COLUMNS = {
  required: ["platform", "identity", "type"],
  connection: ["identityType", "label", "name", "tags", "client", "clientId"],
  credentials: [
    ...["authMethod", "accessToken", "refreshToken", "expiresAt", "scopes", "apiKey", "username", "password", "token"],
    ...["accessKeyId", "secretAccessKey", "sessionToken", "region"],
  ],
};
const FIELD_COLUMN = /^fields\.(.+)$/;

function checkHeader(path, header) {
  const knownColumns = Object.values(COLUMNS).flat();
  const faults = [
    ...header
      .filter((name) => !knownColumns.includes(name) && !FIELD_COLUMN.test(name))
      .map((name) => `unknown: ${JSON.stringify(name)}`),
    ...header.filter((name, index) => header.indexOf(name) < index).map((name) => `twice: ${JSON.stringify(name)}`),
    ...COLUMNS.required.filter((name) => !header.includes(name)).map((name) => `missing: ${name}`),
  ];
  // A file without a header begins with secrets, so its cells are not shown.
  if (!COLUMNS.required.some((name) => header.includes(name)))
    throw new Problem(`${path} has no header.`, {
      hint: `Its first line must name the columns: ${knownColumns.join(",")}`,
      code: 2,
    });
  if (faults.length > 0)
    throw new Problem(`${path} has columns that the import does not know.`, {
      hint: faults.slice(0, 20).join("\n"),
      code: 2,
    });
}

function fromCsv(row) {
  const cells = Object.fromEntries(Object.entries(row).filter(([, text]) => text !== ""));
  const { platform, identity, type } = cells;
  if (!platform || !identity || !type) return failed("has no `platform`, `identity` or `type`");
  const list = (text) => text?.split(",").map((item) => item.trim());
  const fields = Object.entries(cells).flatMap(([name, text]) =>
    FIELD_COLUMN.test(name) ? [[FIELD_COLUMN.exec(name)[1], text]] : [],
  );
  const values = Object.fromEntries(COLUMNS.credentials.map((name) => [name, cells[name]]));
  const { authMethod, scopes, ...secrets } = values;
  const draft = {
    ...Object.fromEntries(COLUMNS.connection.map((name) => [name, cells[name]])),
    names: [platform],
    identity,
    tags: list(cells.tags),
    authMethod,
    credentials: {
      kind: "exact",
      values: withoutUndefined({
        type,
        ...secrets,
        scopes: scopes && scopesOf(scopes),
        fields: fields.length > 0 ? Object.fromEntries(fields) : undefined,
      }),
      own: {},
    },
  };
  return { draft: withoutUndefined(draft) };
}

/**
 * The rows of a file.
 * @param {"nango" | "composio" | "csv"} format
 * @returns {AsyncGenerator<Row>}
 */
export async function* rowsOf(format, path) {
  if (format === "csv") {
    for await (const { line, row } of readCsv(path, (header) => checkHeader(path, header)))
      yield { location: `line ${line}`, ...fromCsv(row) };
    return;
  }
  const [convert, members] =
    format === "nango" ? [fromNango, ["connections", "data"]] : [fromComposio, ["items", "data"]];
  let index = 0;
  for (const item of itemsOf(await readJson(path), members)) {
    index += 1;
    yield { location: `item ${index}`, ...(isObject(item) ? convert(item) : failed("is not an object")) };
  }
}
