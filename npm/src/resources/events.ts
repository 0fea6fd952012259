// The events of the vault.
import { Call } from "glue";
import { copyMembers, queryString } from "../core/arguments.js";
import { type CallOptions, checkCallOptions } from "../core/options.js";
import type { Executor } from "../core/request.js";
import type { Connection, PlatformAccount } from "../types/connection.js";
import type { Fault } from "../core/errors.js";
import type { Names } from "../types/names.js";
import { iterateRows } from "../core/pages.js";
import type { EventFilters } from "../types/filters.js";

export type EventType = Names["EventType"];

export interface EventReason {
  /** For programs. */
  code: string;
  /** For humans. */
  detail: string | null;
  /** The HTTP status of the platform's response. */
  httpStatus: number | null;
}

/** An event with the members that all types share. */
export interface EventOf<Type extends EventType, Data> {
  /** Later events have greater ids. */
  id: string;
  type: Type;
  /** When the event happened (RFC 3339). */
  occurredAt: string;
  /** The resource that the event concerns, and the reason, if it is known. */
  data: Data & { reason?: EventReason };
}

/** An event of a connection. `data.connection` is its state after the event. */
export type ConnectionEvent = EventOf<
  Exclude<Extract<EventType, `connection.${string}`>, "connection.called">,
  { connection: Connection; account: PlatformAccount | null }
>;

/** A call to a platform. */
export interface PlatformCall {
  /** The method of the request to the platform. */
  method: string;
  /** The key of the action that was run. Absent if the call was proxied. */
  action?: string;
  /** The path of a proxied call, without its query, truncated to 500 characters. Absent if an action was run. */
  path?: string;
  /** The HTTP status of the platform's response; null if it did not respond. */
  status: number | null;
  /** The error code, if the platform did not respond; `caller_disconnected` if the caller closed the connection. */
  error: string | null;
  /** Milliseconds until the platform's response began. */
  durationMs: number;
  /** The id of the API key that was used, or that created the token. */
  keyId: string;
  /** The identity of the token that was used; null for a key. */
  identity: string | null;
}

/** Occurs when a platform is called with the credentials of a connection. */
export type CallEvent = EventOf<
  "connection.called",
  { connection: Connection; account: PlatformAccount | null; call: PlatformCall }
>;

/** An agent's call that needed the user's approval. */
export interface DecidedCall {
  /** The method of the request to the platform. */
  method: string;
  /** The key of the action. */
  action: string;
  /** The id of the approval. */
  approval: string;
  /** The id of the API key that the agent acts for. */
  keyId: string;
  /** The identity of the user who decided. */
  identity: string;
}

/** Occurs when a user approves or declines an agent's call. */
export type DecisionEvent = EventOf<
  Extract<EventType, `call.${string}`>,
  { connection: Connection; account: PlatformAccount | null; call: DecidedCall }
>;

/**
 * Occurs when a platform rejects an OAuth client. Connections that use the client can't be refreshed until it is
 * corrected.
 */
export type OauthClientEvent = EventOf<
  Extract<EventType, `oauth_client.${string}`>,
  { oauthClient: { platform: string; name: string; clientId: string } }
>;

/**
 * Occurs when the service has revoked the grant of a deleted connection at the platform, or could not revoke it. In the
 * second case, `data.reason.code` is `refused` or `expired`.
 */
export type GrantEvent = EventOf<Extract<EventType, `grant.${string}`>, { grant: { id: string; platform: string } }>;

/** Occurs when the service disables a webhook. */
export type WebhookEvent = EventOf<Extract<EventType, `webhook.${string}`>, { webhook: { id: string } }>;

export type VaultEvent = ConnectionEvent | CallEvent | DecisionEvent | GrantEvent | OauthClientEvent | WebhookEvent;

export interface EventPage {
  /** In the requested order. With `types`, a page can be empty although others follow. */
  rows: VaultEvent[];
  /** The cursor for `after`. If it equals the cursor that you passed, there are no more events yet. */
  next: string;
}

/** Events. Needs the scope `events:read`, which only API keys can have. */
export interface Events {
  /** Iterates over the events that exist now, oldest first unless `order` is `newest`. */
  list(filters?: EventFilters, options?: CallOptions): AsyncIterable<VaultEvent>;
  /** Returns one page, with a cursor that you can store to continue later. */
  page(filters?: EventFilters, options?: CallOptions): Promise<EventPage>;
  /** Returns the validation errors of `list` and `page` without a request; an empty array if there are none. */
  validateList(filters?: EventFilters): readonly Fault[];
}

function isPage(json: unknown): boolean {
  const { rows, next } = (json ?? {}) as Partial<EventPage>;
  return Array.isArray(rows) && typeof next === "string";
}

/** @internal */
export function events(executor: Executor): Events {
  const buildList = (filters: object) => Call.of("listEvents", [], queryString(filters, ["types"]));
  const page = async (filters: object | undefined, options: CallOptions | undefined): Promise<EventPage> => {
    const query = copyMembers(filters, "filters");
    return executor.send(() => buildList(query), checkCallOptions(options), isPage);
  };
  return {
    async *list(filters, options) {
      // An empty page is not the end: with `types`, others can follow. The end is an unchanged cursor.
      yield* iterateRows(copyMembers(filters, "filters"), (query) => page(query, options), "after");
    },
    page: (filters, options) => page(filters, options),
    validateList: (filters) => executor.validateList(buildList, filters),
  };
}
