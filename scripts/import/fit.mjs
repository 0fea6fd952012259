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
  const types = [...new Set(connector.authMethods.map(({ type }) => `\`${type}\``))].join(", ") || "none";
  const methodText = authMethod ? ` by the method \`${authMethod}\`` : "";
  return { reason: `has credentials that \`${connector.platform}\` does not take${methodText}; it takes ${types}` };
}
