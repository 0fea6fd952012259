import { Call } from "glue";
import { copyMembers, serializeBody, queryString, stringArgument } from "../core/arguments.js";
import { type CallOptions, checkCallOptions } from "../core/options.js";
import type { Executor, BuildRequest } from "../core/request.js";
import type { Fault } from "../core/errors.js";
import type { EventType } from "./events.js";
import { iterateRows } from "../core/pages.js";
import type { DeliveryQuery } from "../types/filters.js";

/** A webhook: a URL to which the service sends events. */
export interface Webhook {
  id: string;
  url: string;
  description: string | null;
  /** The types of events to send; empty for all. */
  types: EventType[];
  active: boolean;
  /** The start of an unbroken series of failed deliveries (RFC 3339); null if the last one succeeded. */
  failingSince: string | null;
  /** Why the service disabled the webhook: its URL responded with 410, or no delivery succeeded for 5 days. */
  disabled: { code: "gone" | "no_success"; httpStatus: number | null } | null;
  /** When the webhook was created (RFC 3339). */
  createdAt: string;
  /** When the webhook was last changed (RFC 3339). */
  updatedAt: string;
}

/** A webhook with its newly generated secret. */
export interface WebhookWithSecret extends Webhook {
  /** The secret that signs deliveries, for `verifyWebhook`. Store it: it is returned only once. */
  secret: string;
}

/** A new webhook. */
export interface NewWebhook {
  /** An `https` URL with a public host name and without a port. */
  url: string;
  /** 1–200 characters. */
  description?: string | null | undefined;
  /** The types of events to send. Default: all. */
  types?: readonly EventType[] | undefined;
  /** Whether to send events to the webhook. Default: true. */
  active?: boolean | undefined;
}

/** An update of a webhook. Omitted members do not change. */
export type WebhookChanges = Partial<NewWebhook>;

export interface WebhookTest {
  /** Whether the URL responded with a status of 2xx. */
  delivered: boolean;
  /** The HTTP status of the response; null if there was none. */
  httpStatus: number | null;
  /** Why there was no response; null if there was one. */
  error: "unreachable" | "timed_out" | "address_refused" | null;
  durationMs: number;
}

/** A range of events to send again. */
export interface Replay {
  /** The id of the first event. */
  from: string;
  /** The id of the last event. Default: the latest. */
  to?: string | null | undefined;
}

export interface Replayed {
  /** The number of queued events, at most 1,000. */
  queued: number;
  /** Pass it as `from` to replay the next events; null if there are no more. */
  next: string | null;
}

export type DeliveryState = "pending" | "delivered" | "failed";

/** The delivery of an event to a webhook. */
export interface Delivery {
  event: string;
  type: EventType;
  /** When the event happened (RFC 3339). */
  occurredAt: string;
  /** The service does not retry a `failed` delivery. You can replay it. */
  state: DeliveryState;
  /** How many times the event was sent. */
  attempts: number;
  /** When the event was last sent (RFC 3339). */
  lastAttemptAt: string | null;
  /** When the service sends the event next (RFC 3339); null if it does not. */
  nextAttemptAt: string | null;
  /** The HTTP status of the last response. */
  httpStatus: number | null;
  /** Why there was no response, or `webhook_inactive`. */
  error: string | null;
  /** The duration of the last attempt in milliseconds. */
  durationMs: number | null;
}

export interface DeliveryPage {
  /** Those of the latest events first. */
  rows: Delivery[];
  /** The cursor for `before`; null on the last page. */
  next: string | null;
}

/** Webhooks. Needs the scope `webhooks:read`; changes need `webhooks:write`. Only API keys can have these scopes. */
export interface Webhooks {
  /** Returns all webhooks, at most 20, oldest first. */
  list(options?: CallOptions): Promise<Webhook[]>;
  /** Creates a webhook. Never retried, because a retry could create a second webhook. */
  create(webhook: NewWebhook, options?: CallOptions): Promise<WebhookWithSecret>;
  /**
   * Returns the validation errors of `create` without a request; an empty array if there are none. Does not check
   * whether the service allows the URL's host.
   */
  validateCreate(webhook: NewWebhook): readonly Fault[];
  get(id: string, options?: CallOptions): Promise<Webhook>;
  /** Updates a webhook, and returns it. */
  update(id: string, changes: WebhookChanges, options?: CallOptions): Promise<Webhook>;
  /** Returns the validation errors of `update` without a request; an empty array if there are none. */
  validateUpdate(changes: WebhookChanges): readonly Fault[];
  delete(id: string, options?: CallOptions): Promise<void>;
  /** Replaces the secret. For 24 hours, deliveries are signed with both secrets. Never retried. */
  rotate(id: string, options?: CallOptions): Promise<WebhookWithSecret>;
  /** Sends an event of the type `webhook.test` immediately, and returns the result. Never retried. */
  test(id: string, options?: CallOptions): Promise<WebhookTest>;
  /** Sends events again, at most 1,000. */
  replay(id: string, replay: Replay, options?: CallOptions): Promise<Replayed>;
  /** Iterates over the deliveries, those of the latest events first. */
  deliveries(id: string, query?: DeliveryQuery, options?: CallOptions): AsyncIterable<Delivery>;
  deliveryPage(id: string, query?: DeliveryQuery, options?: CallOptions): Promise<DeliveryPage>;
}

/** Any valid id: validation without a request has no id. */
const ANY_ID = "any";

const hasRows = (json: unknown) => Array.isArray((json as { rows?: unknown } | null)?.rows);
const isWebhook = (json: unknown) => typeof (json as Partial<Webhook> | null)?.url === "string";
const hasSecret = (json: unknown) => typeof (json as Partial<WebhookWithSecret> | null)?.secret === "string";

/** @internal */
export function webhooks(executor: Executor): Webhooks {
  const buildForWebhook =
    (operation: string, id: string): BuildRequest =>
    () =>
      Call.of(operation, [stringArgument(id, "id")]);
  const withoutRetries = (options: CallOptions | undefined) => ({ ...checkCallOptions(options), repeatable: false });
  const buildCreate =
    (webhook: NewWebhook): BuildRequest =>
    () =>
      Call.of("createWebhook", [], "", ...serializeBody(webhook, "webhook"));
  const buildUpdate = (id: string, changes: WebhookChanges) => () =>
    Call.of("updateWebhook", [stringArgument(id, "id")], "", ...serializeBody(changes, "changes"));
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
    get: async (id, options) => executor.send(buildForWebhook("getWebhook", id), checkCallOptions(options), isWebhook),
    update: async (id, changes, options) =>
      executor.send(buildUpdate(id, changes), checkCallOptions(options), isWebhook),
    validateUpdate: (changes) => executor.validate(buildUpdate(ANY_ID, changes)),
    delete: async (id, options) => {
      const sendOptions = { ...checkCallOptions(options), deletes: true };
      await executor.send(buildForWebhook("deleteWebhook", id), sendOptions, (_, status) => status === 204);
    },
    rotate: async (id, options) =>
      executor.send(buildForWebhook("rotateWebhook", id), withoutRetries(options), hasSecret),
    test: async (id, options) =>
      executor.send(
        buildForWebhook("testWebhook", id),
        withoutRetries(options),
        (json) => typeof (json as Partial<WebhookTest> | null)?.delivered === "boolean",
      ),
    replay: async (id, replay, options) =>
      executor.send(
        () => Call.of("replayEvents", [stringArgument(id, "id")], "", ...serializeBody(replay, "replay")),
        checkCallOptions(options),
        (json) => typeof (json as Partial<Replayed> | null)?.queued === "number",
      ),
    async *deliveries(id, query, options) {
      yield* iterateRows(copyMembers(query, "query"), (query) => deliveryPage(id, query, options), "before");
    },
    deliveryPage,
  };
}
