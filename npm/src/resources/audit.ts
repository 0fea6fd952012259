// The audit log: changes, and reads of credentials.
import { Call } from "glue";
import { copyMembers, queryString } from "../core/arguments.js";
import { type CallOptions, checkCallOptions } from "../core/options.js";
import type { Executor } from "../core/request.js";
import type { Fault } from "../core/errors.js";
import type { Names } from "../types/names.js";
import { iterateRows } from "../core/pages.js";
import type { AuditFilters } from "../types/filters.js";

/** The action that an entry records. */
export type AuditAction = Names["AuditAction"];

/** The actor of an entry. */
export interface AuditActor {
  /** The type of the actor. */
  type: Names["ActorType"];
  /** The id of the API key, the identity of the token or the person, or the id of the agent's grant; null for `operator` and `service`. */
  id: string | null;
  /** The id of the API key with which the actor acts; null for `operator` and `service`. */
  keyId: string | null;
}

/** The object that was changed, or the connection whose credentials were read. */
export interface AuditTarget {
  /** The type of the target. */
  type:
    | "agent_grant"
    | "agent_sign_in"
    | "branding"
    | "connection"
    | "console_session"
    | "console_sign_in"
    | "key"
    | "oauth_client"
    | "webhook";
  /** Its id; the platform of an OAuth client. */
  id: string;
}

/** An entry of the audit log: a change, or a read of credentials. */
export interface AuditEntry {
  /** Identifies the entry. Later entries have greater ids. */
  id: string;
  /** When it happened (RFC 3339). If reads were counted together, when the first one happened. */
  at: string;
  /** The action that the entry records. */
  action: AuditAction;
  /** The actor. */
  actor: AuditActor;
  /** The object that was changed, or the connection whose credentials were read. */
  target: AuditTarget;
  /** The `x-request-id` of the request; null for `operator` and `service`. */
  requestId: string | null;
  /** The number of reads of one connection with one key in one minute, which share an entry; otherwise 1. */
  count: number;
}

/** A page of the audit log. */
export interface AuditPage {
  /** The entries, newest first. With several filters, there may be none although more follow. */
  rows: AuditEntry[];
  /** The cursor for `before`; null on the last page. */
  next: string | null;
}

/** The audit log. Needs the scope `audit:read`, which only API keys can have. */
export interface Audit {
  /** Iterates over the entries, newest first. */
  list(filters?: AuditFilters, options?: CallOptions): AsyncIterable<AuditEntry>;
  /** Returns one page, with a cursor to continue from. */
  page(filters?: AuditFilters, options?: CallOptions): Promise<AuditPage>;
  /** Returns the errors that `list` and `page` would find, without a request; an empty array if there are none. */
  validateList(filters?: AuditFilters): readonly Fault[];
}

function isPage(json: unknown): boolean {
  const { rows, next } = (json ?? {}) as Partial<AuditPage>;
  return Array.isArray(rows) && (typeof next === "string" || next === null);
}

/** @internal */
export function audit(executor: Executor): Audit {
  const buildList = (filters: object) => Call.of("listAudit", [], queryString(filters, ["actions"]));
  const page = async (filters: object | undefined, options: CallOptions | undefined): Promise<AuditPage> => {
    const query = copyMembers(filters, "filters");
    return executor.send(() => buildList(query), checkCallOptions(options), isPage);
  };
  return {
    async *list(filters, options) {
      yield* iterateRows(copyMembers(filters, "filters"), (query) => page(query, options), "before");
    },
    page: (filters, options) => page(filters, options),
    validateList: (filters) => executor.validateList(buildList, filters),
  };
}
