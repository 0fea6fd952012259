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

/** The type of an event. */
export type EventType = Names["EventType"];

/** The reason for an event. */
export interface EventReason {
  /** The reason, for programs. */
  code: string;
  /** The human-readable reason. */
  detail: string | null;
  /** The status of the platform's response. */
  httpStatus: number | null;
}

/** An event of a type, with its data. */
export interface EventOf<Type extends EventType, Data> {
  /** Identifies the event. Later events have greater ids. */
  id: string;
  /** The type of the event. */
  type: Type;
  /** When it happened (RFC 3339). */
  occurredAt: string;
  /** The resource that the event is about, and the reason, if one is known. */
  data: Data & { reason?: EventReason };
}

/** An event of a connection. `data.connection` is the connection immediately afterwards. */
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
  /** The status of the platform's response; null without one. */
  status: number | null;
  /** The error code, if the platform did not respond; `caller_disconnected` if the caller closed the connection. */
  error: string | null;
  /** Milliseconds until the platform's response began. */
  durationMs: number;
  /** The id of the API key that was used, or with which the token was created. */
  keyId: string;
  /** The identity of the token that was used; null for a key. */
  identity: string | null;
}

/** The event of a call to a platform with the credentials of a connection. */
export type CallEvent = EventOf<
  "connection.called",
  { connection: Connection; account: PlatformAccount | null; call: PlatformCall }
>;

/** A call of an agent that needed its user's approval. */
export interface DecidedCall {
  /** The method of the request to the platform. */
  method: string;
  /** The key of the action. */
  action: string;
  /** The id of the approval. */
  approval: string;
  /** The id of the API key as which the agent acts. */
  keyId: string;
  /** The user who decided. */
  identity: string;
}

/** The event when the user of an agent has approved or declined a call. */
export type DecisionEvent = EventOf<
  Extract<EventType, `call.${string}`>,
  { connection: Connection; account: PlatformAccount | null; call: DecidedCall }
>;

/**
 * The event when a platform rejects an OAuth client. Connections that need the client can't be refreshed until it is
 * corrected.
 */
export type OauthClientEvent = EventOf<
  Extract<EventType, `oauth_client.${string}`>,
  { oauthClient: { platform: string; name: string; clientId: string } }
>;

/**
 * The event when the service has revoked the grant of a deleted connection at the platform, or has failed to: then
 * `data.reason.code` is `refused` or `expired`.
 */
export type GrantEvent = EventOf<Extract<EventType, `grant.${string}`>, { grant: { id: string; platform: string } }>;

/** The event when the service has disabled a webhook. */
export type WebhookEvent = EventOf<Extract<EventType, `webhook.${string}`>, { webhook: { id: string } }>;

/** An event of the vault. */
export type VaultEvent = ConnectionEvent | CallEvent | DecisionEvent | GrantEvent | OauthClientEvent | WebhookEvent;

/** A page of events. */
export interface EventPage {
  /** The events, in the requested order. With `types`, there may be none although more follow. */
  rows: VaultEvent[];
  /** The cursor for `after`. If it is the one that you passed, you have read all events so far. */
  next: string;
}

/** Events. Needs the scope `events:read`, which only API keys can have. */
export interface Events {
  /** Iterates over the events, oldest first unless `order` says otherwise, and ends when there are no more so far. */
  list(filters?: EventFilters, options?: CallOptions): AsyncIterable<VaultEvent>;
  /** Returns one page, with a cursor to store and continue from. */
  page(filters?: EventFilters, options?: CallOptions): Promise<EventPage>;
  /** Returns the errors that `list` and `page` would find, without a request; an empty array if there are none. */
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
      // Without `after`, an empty page with a cursor may still be followed by others.
      yield* iterateRows(copyMembers(filters, "filters"), (query) => page(query, options), "after");
    },
    page: (filters, options) => page(filters, options),
    validateList: (filters) => executor.validateList(buildList, filters),
  };
}
