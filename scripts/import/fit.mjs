// Converts the credentials of another service to those of an auth method of this service's connector.

/** Normalizes the name of a field: `instance_url` and `instanceUrl` are the same field. */
const normalizedName = (name) => name.toLowerCase().replace(/[^a-z0-9]/g, "");

/**
 * For each kind of credentials, the types of auth methods that can store them, best first, each with a function that converts
 * the values.
 */
const TYPES = {
  oauth2: [["oauth2", (values) => values]],
  key: [
    ["api_key", ({ apiKey }) => ({ apiKey })],
    ["bearer", ({ apiKey }) => ({ token: apiKey })],
  ],
  token: [
    ["bearer", ({ token }) => ({ token })],
    ["oauth2", ({ token }) => ({ accessToken: token })],
  ],
  basic: [["basic", (values) => values]],
};

/** What the reasons call each kind of credentials. */
const KINDS = { oauth2: "OAuth tokens", key: "an API key", token: "a token", basic: "a username and password" };

/**
 * The key in a username and password, for a platform that has no such method: the one that the file of --map names, or the
 * username if the password is empty.
 */
function keyIn({ username, password }, sources = {}) {
  const source = sources.apiKey ?? sources.token ?? (password ? undefined : "username");
  return Object.hasOwn({ username, password }, source ?? "") ? { username, password }[source] : undefined;
}

/** Whether a method connects a user's account, rather than the app itself. */
const connectsUser = ({ type, grant }) => type !== "oauth2" || grant === undefined || grant === "authorization_code";

/** The values of the method's fields that are not secrets. */
function fieldsOf(method, own, sources = {}) {
  const secrets = ["apiKey", "token", "username", "password"];
  const entries = (method.fields ?? [])
    .filter(({ name }) => !secrets.includes(name))
    .flatMap(({ name }) => {
      const source = sources[name] ?? Object.keys(own).find((other) => normalizedName(other) === normalizedName(name));
      return source !== undefined && Object.hasOwn(own, source) ? [[name, own[source]]] : [];
    });
  return entries.length > 0 ? { fields: Object.fromEntries(entries) } : {};
}

/**
 * The value of `credentials` in an import request, or the reason why the platform has no matching auth method.
 * @param {import("./formats.mjs").Credentials} credentials
 * @param {{ platform: string, authMethods: { id: string, type: string, grant?: string, fields?: { name: string }[] }[] }} connector
 * @param {import("./platforms.mjs").Target & { authMethod?: string }} target
 * @returns {{ credentials: object } | { reason: string }}
 */
export function fit({ kind, values, own }, connector, { authMethod, fields }) {
  if (kind === "exact") return { credentials: authMethod ? { ...values, authMethod } : values };
  const key = kind === "basic" ? keyIn(values, fields) : undefined;
  const isKey = key && (fields?.apiKey || fields?.token || !connector.authMethods.some(({ type }) => type === "basic"));
  if (isKey) return fit({ kind: "key", values: { apiKey: key }, own }, connector, { authMethod, fields });
  for (const [type, members] of TYPES[kind]) {
    const candidates = connector.authMethods.filter((method) => method.type === type && connectsUser(method));
    const methods = authMethod ? candidates.filter(({ id }) => id === authMethod) : candidates;
    if (methods.length > 1) {
      const ids = methods.map(({ id }) => `\`${id}\``).join(", ");
      return {
        reason: `fits several methods of \`${connector.platform}\`: name one of ${ids} as \`authMethod\` in the file of --map`,
      };
    }
    if (methods.length === 1) {
      const [method] = methods;
      return { credentials: { type, authMethod: method.id, ...members(values), ...fieldsOf(method, own, fields) } };
    }
  }
  const methods = connector.authMethods.map(({ id, type }) => (id === type ? `\`${id}\`` : `\`${id}\` (${type})`));
  const taken = authMethod
    ? `the method \`${authMethod}\` of \`${connector.platform}\` does not take`
    : `\`${connector.platform}\` does not take`;
  const hint =
    kind === "basic" ? ". If one of the two is a key, name it in the file of --map, as docs/moving.md shows" : "";
  return { reason: `has ${KINDS[kind]}, which ${taken}; its methods: ${methods.join(", ") || "none"}${hint}` };
}
