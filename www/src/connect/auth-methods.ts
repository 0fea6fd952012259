// What auth methods require, and from whom.
import type { AuthField, AuthMethod, ConnectorDetail } from "connector-vault/slim";

/** Whether the method redirects to the platform's own page. */
export const isRedirectMethod = (method: AuthMethod) =>
  method.type === "oauth2" && method.grant === "authorization_code";

/**
 * The connector with the methods that can work. Without an OAuth client, OAuth methods can't, so they are removed
 * unless there are no others.
 */
export function withUsableMethods(connector: ConnectorDetail, hasClient: boolean): ConnectorDetail {
  const others = connector.authMethods.filter(({ type }) => type !== "oauth2");
  return hasClient || others.length === 0 ? connector : { ...connector, authMethods: others };
}

/**
 * Whether a field decides which host receives the app's secret or a token. The service accepts such a value from the
 * app only, unless the catalog lists all valid ones.
 */
export const isSetByApp = (
  { servers }: Pick<ConnectorDetail, "servers">,
  method: AuthMethod,
  { name, enum: values }: AuthField,
) =>
  method.type === "oauth2" &&
  values === null &&
  [method.tokenUrl, method.refreshUrl, method.revocationUrl, ...servers.map(({ url }) => url)].some((url) =>
    hostVariables(url ?? "", method.fields).includes(name),
  );

/** Whether the platform's callback contains the value, so that the user is not asked for it. */
export const isReportedByPlatform = (method: AuthMethod, { name }: AuthField) =>
  method.type === "oauth2" && method.fieldSources.some(({ field }) => field === name);

/** The variables in a host whose last two labels are not literal. Before a domain that the catalog lists, they are literal. */
function hostVariables(template: string, fields: readonly AuthField[]): string[] {
  const [, host = ""] = /^https?:\/\/([^/?]*)/.exec(template) ?? [];
  const end = host.slice(host.lastIndexOf("}") + 1);
  if (end.split(".").length > 2) return [];
  const names = [...host.matchAll(/\{([^{}]+)\}/g)].map(([, name = ""]) => name);
  const domain = names.at(-1);
  const isListed = fields.some((field) => field.name === domain && field.enum !== null);
  return domain && isListed && host.endsWith(`.{${domain}}`) ? [domain] : names;
}
