// The audit log: changes, and reads of credentials.
import { Call } from "glue";
import { copyMembers, queryString } from "../core/arguments.js";
import { type CallOptions, checkCallOptions } from "../core/options.js";
import type { Executor } from "../core/request.js";
import type { Fault } from "../core/errors.js";
import type { Names } from "../types/names.js";
import { iterateRows } from "../core/pages.js";
import type { AuditFilters } from "../types/filters.js";

/** The type of a change or read, such as `key.created`. */
export type AuditAction = Names["AuditAction"];

/** Who made a change, or read credentials. */
export interface AuditActor {
  type: Names["ActorType"];
  /**
   * The id of the API key, the identity of the token, the person, or the id of the agent's grant; null for `operator`
   * and `service`.
   */
  id: string | null;
  /** The id of the API key that the actor used; null for `operator` and `service`. */
  keyId: string | null;
}

/** The object that was changed, or the connection whose credentials were read. */
export interface AuditTarget {
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
  /** For an OAuth client: its platform. */
  id: string;
}

/** An entry of the audit log: a change, or a read of credentials. */
export interface AuditEntry {
  /** Later entries have greater ids. */
  id: string;
  /** When the change or read happened (RFC 3339). For several reads in one entry: the first one. */
  at: string;
  action: AuditAction;
  actor: AuditActor;
  target: AuditTarget;
  /** The `x-request-id` of the request; null for `operator` and `service`. */
  requestId: string | null;
  /** 1 for a change. Reads of one connection with one key in the same minute share an entry, which counts them. */
  count: number;
}

export interface AuditPage {
  /** Newest first. With several filters, a page can be empty although others follow. */
  rows: AuditEntry[];
  /** The cursor for `before`; null on the last page. */
  next: string | null;
}

/** The audit log. Needs the scope `audit:read`, which only API keys can have. */
export interface Audit {
  /** Iterates over all entries, newest first. */
  list(filters?: AuditFilters, options?: CallOptions): AsyncIterable<AuditEntry>;
  /** Returns one page, with a cursor to continue from. */
  page(filters?: AuditFilters, options?: CallOptions): Promise<AuditPage>;
  /** Returns the validation errors of `list` and `page` without a request; an empty array if there are none. */
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
