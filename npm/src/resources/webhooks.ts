// Webhooks.
import { Call } from "glue";
import { copyMembers, jsonBody, queryString, stringArgument } from "../core/arguments.js";
import { type CallOptions, checkCallOptions } from "../core/options.js";
import type { Executor, BuildRequest } from "../core/request.js";
import type { Fault } from "../core/errors.js";
import type { EventType } from "./events.js";
import { iterateRows } from "../core/pages.js";
import type { DeliveryQuery } from "../types/filters.js";

/** A webhook, to which events are sent. */
export interface Webhook {
  /** Identifies the webhook. */
  id: string;
  /** Where events are sent. */
  url: string;
  /** The purpose of the webhook. */
  description: string | null;
  /** The types of events that are sent; all if empty. */
  types: EventType[];
  /** Whether events are sent. */
  active: boolean;
  /** Since when deliveries have failed (RFC 3339); null if the last one succeeded. */
  failingSince: string | null;
  /** Why the service has disabled it: its URL responded with 410, or nothing was delivered for 5 days. */
  disabled: { code: "gone" | "no_success"; httpStatus: number | null } | null;
  /** When it was created (RFC 3339). */
  createdAt: string;
  /** When it was last changed (RFC 3339). */
  updatedAt: string;
}

/** A webhook with its newly generated secret. */
export interface WebhookWithSecret extends Webhook {
  /** The secret that signs deliveries, for `verifyWebhook`. Store it: it is returned only once. */
  secret: string;
}

/** A new webhook. */
export interface NewWebhook {
  /** Where to send events: https, with a public host name and no port. */
  url: string;
  /** The purpose of the webhook: 1–200 characters. */
  description?: string | null | undefined;
  /** The types of events to send. Default: all. */
  types?: readonly EventType[] | undefined;
  /** Whether to send events. Default: true. */
  active?: boolean | undefined;
}

/** An update of a webhook. Omitted members do not change. */
export type WebhookChanges = Partial<NewWebhook>;

/** The result of a test. */
export interface WebhookTest {
  /** Whether the receiver responded with a 2xx. */
  delivered: boolean;
  /** The status of the response. */
  httpStatus: number | null;
  /** Why there was no response. */
  error: "unreachable" | "timed_out" | "address_refused" | null;
  /** How long it took, in milliseconds. */
  durationMs: number;
}

/** A range of events to send again. */
export interface Replay {
  /** The id of the first event. */
  from: string;
  /** The id of the last event. Default: the latest. */
  to?: string | null | undefined;
}

/** The result of `replay`. */
export interface Replayed {
  /** How many events were queued: at most 1,000. */
  queued: number;
  /** The `from` of the next call; null if there are no more. */
  next: string | null;
}

/** The state of a delivery. */
export type DeliveryState = "pending" | "delivered" | "failed";

/** The delivery of an event to a webhook. */
export interface Delivery {
  /** The event's id. */
  event: string;
  /** The event's type. */
  type: EventType;
  /** When the event happened (RFC 3339). */
  occurredAt: string;
  /** A failed delivery is not sent again, unless you replay it. */
  state: DeliveryState;
  /** How many times it was sent. */
  attempts: number;
  /** When it was last sent (RFC 3339). */
  lastAttemptAt: string | null;
  /** When it is sent next (RFC 3339); null if it is not sent again. */
  nextAttemptAt: string | null;
  /** The status of the last response. */
  httpStatus: number | null;
  /** Why there was no response, or `webhook_inactive`. */
  error: string | null;
  /** How long the last attempt took, in milliseconds. */
  durationMs: number | null;
}

/** A page of deliveries. */
export interface DeliveryPage {
  /** The deliveries, starting with those of the latest events. */
  rows: Delivery[];
  /** The cursor for `before`; null on the last page. */
  next: string | null;
}

/** Webhooks. Needs the scope `webhooks:read`; changes need `webhooks:write`. Only API keys can have these scopes. */
export interface Webhooks {
  /** Returns all webhooks, at most 20, oldest first. */
  list(options?: CallOptions): Promise<Webhook[]>;
  /** Creates a webhook. Never retried, since a second one would be created. */
  create(webhook: NewWebhook, options?: CallOptions): Promise<WebhookWithSecret>;
  /**
   * Returns the errors that `create` would find in this webhook, without a request; an empty array if there are none.
   * Only the service knows whether it may send anything to the URL.
   */
  validateCreate(webhook: NewWebhook): readonly Fault[];
  /** Returns a webhook. */
  get(id: string, options?: CallOptions): Promise<Webhook>;
  /** Updates a webhook, and returns it. */
  update(id: string, changes: WebhookChanges, options?: CallOptions): Promise<Webhook>;
  /** Returns the errors that `update` would find in these changes, without a request; an empty array if there are none. */
  validateUpdate(changes: WebhookChanges): readonly Fault[];
  /** Deletes a webhook. */
  delete(id: string, options?: CallOptions): Promise<void>;
  /** Replaces the secret. For 24 hours, the previous one also signs. Never retried. */
  rotate(id: string, options?: CallOptions): Promise<WebhookWithSecret>;
  /** Sends an event of the type `webhook.test` immediately, and returns the result. Never retried. */
  test(id: string, options?: CallOptions): Promise<WebhookTest>;
  /** Sends events again, at most 1,000. */
  replay(id: string, replay: Replay, options?: CallOptions): Promise<Replayed>;
  /** Iterates over the deliveries, starting with those of the latest events. */
  deliveries(id: string, query?: DeliveryQuery, options?: CallOptions): AsyncIterable<Delivery>;
  /** Returns one page of deliveries. */
  deliveryPage(id: string, query?: DeliveryQuery, options?: CallOptions): Promise<DeliveryPage>;
}

/** A valid id, for validating the rest of a call. */
const ANY_ID = "any";

const hasRows = (json: unknown) => Array.isArray((json as { rows?: unknown } | null)?.rows);
const isWebhook = (json: unknown) => typeof (json as Partial<Webhook> | null)?.url === "string";
const hasSecret = (json: unknown) => typeof (json as Partial<WebhookWithSecret> | null)?.secret === "string";

/** @internal */
export function webhooks(executor: Executor): Webhooks {
  const forWebhook =
    (operation: string, id: string): BuildRequest =>
    () =>
      Call.of(operation, [stringArgument(id, "id")]);
  const withoutRetries = (options: CallOptions | undefined) => ({ ...checkCallOptions(options), repeatable: false });
  const buildCreate =
    (webhook: NewWebhook): BuildRequest =>
    () =>
      Call.of("createWebhook", [], "", ...jsonBody(webhook, "webhook"));
  const buildUpdate = (id: string, changes: WebhookChanges) => () =>
    Call.of("updateWebhook", [stringArgument(id, "id")], "", ...jsonBody(changes, "changes"));
  const deliveryPage: Webhooks["deliveryPage"] = async (id, query, options) => {
    const encodedQuery = queryString(copyMembers(query, "query"), []);
    return executor.send(
      () => Call.of("listDeliveries", [stringArgument(id, "id")], encodedQuery),
      checkCallOptions(options),
      hasRows,
    );
  };
  return {
    list: async (options) => {
      const { rows } = await executor.send<{ rows: Webhook[] }>(
        () => Call.of("listWebhooks", []),
        checkCallOptions(options),
        hasRows,
      );
      return rows;
    },
    create: async (webhook, options) => executor.send(buildCreate(webhook), withoutRetries(options), hasSecret),
    validateCreate: (webhook) => executor.validate(buildCreate(webhook)),
    get: async (id, options) => executor.send(forWebhook("getWebhook", id), checkCallOptions(options), isWebhook),
    update: async (id, changes, options) =>
      executor.send(buildUpdate(id, changes), checkCallOptions(options), isWebhook),
    validateUpdate: (changes) => executor.validate(buildUpdate(ANY_ID, changes)),
    delete: async (id, options) => {
      const sendOptions = { ...checkCallOptions(options), deletes: true };
      await executor.send(forWebhook("deleteWebhook", id), sendOptions, (_, status) => status === 204);
    },
    rotate: async (id, options) => executor.send(forWebhook("rotateWebhook", id), withoutRetries(options), hasSecret),
    test: async (id, options) =>
      executor.send(
        forWebhook("testWebhook", id),
        withoutRetries(options),
        (json) => typeof (json as Partial<WebhookTest> | null)?.delivered === "boolean",
      ),
    replay: async (id, replay, options) =>
      executor.send(
        () => Call.of("replayEvents", [stringArgument(id, "id")], "", ...jsonBody(replay, "replay")),
        checkCallOptions(options),
        (json) => typeof (json as Partial<Replayed> | null)?.queued === "number",
      ),
    async *deliveries(id, query, options) {
      yield* iterateRows(copyMembers(query, "query"), (query) => deliveryPage(id, query, options), "before");
    },
    deliveryPage,
  };
}
