// What methods ask of whom.
import type { AuthField, AuthMethod, ConnectorDetail } from "connector-vault/slim";

/** Whether a method leads to the platform's own page. */
export const isRedirectMethod = (method: AuthMethod) =>
  method.type === "oauth2" && method.grant === "authorization_code";

/** A connector with the methods that can work. Without an OAuth client, those of OAuth can't, unless there is no other. */
export function withUsableMethods(connector: ConnectorDetail, hasClient: boolean): ConnectorDetail {
  const others = connector.authMethods.filter(({ type }) => type !== "oauth2");
  return hasClient || others.length === 0 ? connector : { ...connector, authMethods: others };
}

/**
 * Whether a field decides whose host receives the app's secret or a token, by requests for tokens or by calls to the servers.
 * The service takes such a value from the app only, unless the catalog names all that there are.
 */
export const isSetByApp = (
  { servers }: Pick<ConnectorDetail, "servers">,
  method: AuthMethod,
  { name, enum: values }: AuthField,
) =>
  method.type === "oauth2" &&
  values === null &&
  [method.tokenUrl, method.refreshUrl, method.revocationUrl, ...servers.map(({ url }) => url)].some((url) =>
    hostVariables(url ?? "").includes(name),
  );

/** Whether the platform says the value of a field, so that nobody need be asked for it. */
export const isReportedByPlatform = (method: AuthMethod, { name }: AuthField) =>
  method.type === "oauth2" && method.fieldSources.some(({ field }) => field === name);

/** The variables of a host whose last two labels are not both in the template. */
function hostVariables(template: string): string[] {
  const [, host = ""] = /^https?:\/\/([^/?]*)/.exec(template) ?? [];
  const end = host.slice(host.lastIndexOf("}") + 1);
  return end.split(".").length > 2 ? [] : [...host.matchAll(/\{([^{}]+)\}/g)].map(([, name = ""]) => name);
}
