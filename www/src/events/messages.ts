// Labels of event types.
import type { EventType } from "connector-vault/slim";

const EVENT_LABELS: Record<EventType, string> = {
  "connection.created": "Connection created",
  "connection.connected": "Account connected",
  "connection.reconnected": "Account reconnected",
  "connection.updated": "Connection changed",
  "connection.scopes_changed": "Granted scopes changed",
  "connection.degraded": "Connection degraded",
  "connection.failed": "Connection failed",
  "connection.recovered": "Connection recovered",
  "connection.called": "Platform called",
  "call.approved": "Agent's call approved",
  "call.declined": "Agent's call declined",
  "connection.deleted": "Connection deleted",
  "oauth_client.rejected": "OAuth client rejected by the platform",
  "grant.revoked": "Token revoked at the platform",
  "grant.revocation_failed": "Token not revoked at the platform",
  "webhook.disabled": "Webhook disabled",
};

export const EVENT_TYPES = Object.keys(EVENT_LABELS) as EventType[];

/** Falls back to the type's identifier, because the service may be newer than this page. */
export const eventLabel = (type: EventType): string => EVENT_LABELS[type] ?? type;
