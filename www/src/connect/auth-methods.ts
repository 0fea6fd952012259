// Determines which auth methods can be used, and whether the user, the app or the platform provides a field's value.
import type { AuthField, AuthMethod, ConnectorDetail } from "connector-vault/slim";

/** Whether the method redirects to the platform's own page. */
export const isRedirectMethod = (method: AuthMethod) =>
  method.type === "oauth2" && method.grant === "authorization_code";

/**
 * Removes the OAuth methods of a connector without an OAuth client, because they can't work. Keeps them if the
 * connector has no other methods.
 */
export function withUsableMethods(connector: ConnectorDetail, hasClient: boolean): ConnectorDetail {
  const otherMethods = connector.authMethods.filter(({ type }) => type !== "oauth2");
  return hasClient || otherMethods.length === 0 ? connector : { ...connector, authMethods: otherMethods };
}

/**
 * Whether a field determines which host receives the app's secret or a token. The service accepts such a value only
 * from the app, unless the catalog lists all valid values.
 */
export const isSetByApp = (
  { servers }: Pick<ConnectorDetail, "servers">,
  method: AuthMethod,
  { name, enum: values }: AuthField,
) =>
  method.type === "oauth2" &&
  values === null &&
  [
    ...[method.tokenUrl, method.refreshUrl, method.revocationUrl, method.lookupUrl],
    ...servers.map(({ url }) => url),
  ].some((url) => findHostVariables(url ?? "", method.fields).includes(name));

/** Whether the platform returns the value when the user connects, so that the user need not enter it. */
export const isReportedByPlatform = (method: AuthMethod, { name }: AuthField) =>
  method.type === "oauth2" && method.fieldSources.some(({ field }) => field === name);

/**
 * Returns the variables that determine the domain of a host: none if the host ends with two literal labels; only the
 * last variable if the host ends with it and the catalog lists its values; otherwise all variables.
 */
function findHostVariables(template: string, fields: readonly AuthField[]): string[] {
  const [, host = ""] = /^https?:\/\/([^/?]*)/.exec(template) ?? [];
  const literalSuffix = host.slice(host.lastIndexOf("}") + 1);
  if (literalSuffix.split(".").length > 2) return [];
  const names = [...host.matchAll(/\{([^{}]+)\}/g)].map(([, name = ""]) => name);
  const domain = names.at(-1);
  const hasListedValues = fields.some((field) => field.name === domain && field.enum !== null);
  return domain && hasListedValues && host.endsWith(`.{${domain}}`) ? [domain] : names;
}
