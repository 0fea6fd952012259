import type { UseQueryResult } from "@tanstack/preact-query";
import type { ComponentChildren } from "preact";
import { Failure } from "./failure";
import { Loading } from "./loading";

interface Props<Data> {
  query: UseQueryResult<Data>;
  /** What is asked for: "connectors". */
  what: string;
  /** Lines to draw while nothing is there. */
  rows?: number;
  children: (data: Data) => ComponentChildren;
}

/** Draws an answer; before there is one, that it is being waited for, and when there is none, why. */
export function Answer<Data>({ query, what, rows, children }: Props<Data>) {
  const { data, error, isPending, isPlaceholderData, refetch } = query;
  if (error) {
    // What was answered before is worth more than nothing.
    return <div class="page"><Failure error={error} onRetry={() => void refetch()} />{data !== undefined && children(data)}</div>;
  }
  if (isPending) return <Loading what={what} {...(rows !== undefined && { rows })} />;
  // An older answer stays until the new one is there, and looks it.
  return <div class={isPlaceholderData ? "stale" : ""} aria-busy={isPlaceholderData}>{children(data as Data)}</div>;
}
