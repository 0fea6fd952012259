// Usage: the number of requests that keys and tokens sent.
import { Call } from "glue";
import { copyMembers, queryString } from "../core/arguments.js";
import { type CallOptions, checkCallOptions } from "../core/options.js";
import type { Executor } from "../core/request.js";
import type { Names } from "../types/names.js";
import type { UsageQuery } from "../types/filters.js";

/** A member by which usage can be grouped. */
export type UsageGroup = Names["UsageGroup"];

/** The endpoints that are counted together. */
export type EndpointGroup = Names["EndpointGroup"];

/** A number of requests. A member that `groupBy` does not name is null. */
export interface UsageRow {
  /** The day, UTC. */
  day: string | null;
  /** The group of endpoints. */
  endpoint: EndpointGroup | null;
  /** The platform; also null for requests without one. */
  platform: string | null;
  /** The identity; also null for requests without one. */
  identity: string | null;
  /** The class of the status. */
  status: "2xx" | "3xx" | "4xx" | "5xx" | null;
  /** Whether the row is the sum of all combinations without a separate row. */
  other: boolean;
  /** The number of requests. */
  requests: number;
}

/** The requests of the days from `from` to `to`. */
export interface Usage {
  /** The first day, UTC. */
  from: string;
  /** The last day, UTC. */
  to: string;
  /** The number of requests of all rows. */
  requests: number;
  /** The rows, ordered by day, then by the number of requests, in descending order. */
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
