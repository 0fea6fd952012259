// Usage: the number of requests of keys and tokens.
import { Call } from "glue";
import { copyMembers, queryString } from "../core/arguments.js";
import { type CallOptions, checkCallOptions } from "../core/options.js";
import type { Executor } from "../core/request.js";
import type { Names } from "../types/names.js";
import type { UsageQuery } from "../types/filters.js";

/** A property by which requests can be grouped. */
export type UsageGroup = Names["UsageGroup"];

/** A group of endpoints that are counted together. */
export type EndpointGroup = Names["EndpointGroup"];

/** The number of requests of one group. Members that are not in `groupBy` are null. */
export interface UsageRow {
  /** The day in UTC, such as `2030-01-31`. */
  day: string | null;
  endpoint: EndpointGroup | null;
  /** Also null for requests that concern no platform. */
  platform: string | null;
  /** Also null for requests that concern no identity. */
  identity: string | null;
  /** The class of the HTTP status. */
  status: "2xx" | "3xx" | "4xx" | "5xx" | null;
  /** Whether this row sums up all groups that have no row of their own. */
  other: boolean;
  requests: number;
}

/** The number of requests from the day `from` to the day `to`. */
export interface Usage {
  /** The first day in UTC. */
  from: string;
  /** The last day in UTC. */
  to: string;
  /** The sum of all rows. */
  requests: number;
  /** Ordered by day, then by the number of requests in descending order. */
  rows: UsageRow[];
}

/** @internal */
export function usage(
  executor: Executor,
  query: UsageQuery | undefined,
  options: CallOptions | undefined,
): Promise<Usage> {
  const members = copyMembers(query, "query");
  return executor.send(
    () => Call.of("getUsage", [], queryString(members, ["groupBy"])),
    checkCallOptions(options),
    (json) => Array.isArray((json as Partial<Usage> | null)?.rows),
  );
}
