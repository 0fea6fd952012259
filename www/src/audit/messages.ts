// Labels of the audit log.
import type { AuditAction, AuditActor, AuditTarget } from "connector-vault/slim";

const ACTION_LABELS: Record<AuditAction, string> = {
  "key.created": "API key created",
  "key.rotated": "API key rotated",
  "key.revoked": "API key revoked",
  "oauth_client.created": "OAuth client set",
  "oauth_client.updated": "OAuth client replaced",
  "oauth_client.deleted": "OAuth client deleted",
  "webhook.created": "Webhook created",
  "webhook.updated": "Webhook changed",
  "webhook.rotated": "Webhook secret rotated",
  "webhook.disabled": "Webhook disabled",
  "webhook.deleted": "Webhook deleted",
  "agent_sign_in.updated": "Sign-in for agents configured",
  "agent_sign_in.deleted": "Sign-in for agents turned off",
  "agent_grant.requested": "User signed in for an agent",
  "agent_grant.created": "Agent's grant created",
  "agent_grant.declined": "Agent's grant declined",
  "agent_grant.revoked": "Agent's grant revoked",
  "console_sign_in.updated": "Sign-in to the console configured",
  "console_sign_in.deleted": "Sign-in to the console turned off",
  "console_session.created": "Person signed in",
  "console_session.ended": "Session ended",
  "branding.updated": "Branding changed",
  "connection.created": "Connection created",
  "connection.connected": "Account connected",
  "connection.updated": "Connection changed",
  "connection.state_changed": "Connection's state changed",
  "connection.deleted": "Connection deleted",
  "credentials.read": "Credentials read",
};

export const AUDIT_ACTIONS = Object.keys(ACTION_LABELS) as AuditAction[];

/** Falls back to the action's identifier, because the service may be newer than this page. */
export const actionLabel = (action: AuditAction): string => ACTION_LABELS[action] ?? action;

const ACTOR_LABELS: Record<AuditActor["type"], string> = {
  key: "API key",
  token: "Token of",
  person: "User",
  grant: "Agent with the grant",
  operator: "Operator",
  service: "The service",
};

export const actorLabel = (type: AuditActor["type"]): string => ACTOR_LABELS[type] ?? type;

/** URL of the target in the console, if it has a page. */
export function targetHref({ type, id }: AuditTarget, isDeleted: boolean): string | undefined {
  if (type === "connection") return isDeleted ? undefined : `/connections/${id}`;
  if (type === "webhook") return isDeleted ? undefined : `/webhooks/${encodeURIComponent(id)}`;
  if (type === "oauth_client" || type === "branding") return "/integrations";
  if (type === "console_sign_in" || type === "console_session") return "/people";
  return type === "key" ? "/keys" : "/agents";
}
