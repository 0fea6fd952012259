import type { UseQueryResult } from "@tanstack/preact-query";
import type { ComponentChildren } from "preact";
import { Failure, isPassing, told } from "./failure";
import { Loading } from "./loading";

interface Props<Data> {
  query: Pick<UseQueryResult<Data>, "data" | "error" | "isFetching" | "isPending" | "isPlaceholderData"> & {
    refetch: () => unknown;
  };
  /** What is asked for: "connectors". */
  what: string;
  /** Lines to draw while nothing is there. */
  rows?: number;
  children: (data: Data) => ComponentChildren;
}

/**
 * Draws an answer; before there is one, that it is being waited for, and when there is none, why. What could not be asked
 * again stays, with a note.
 */
export function Answer<Data>({ query, what, rows, children }: Props<Data>) {
  const { data, error, isFetching, isPending, isPlaceholderData, refetch } = query;
  const isOld = data !== undefined && isPassing(error);
  if (error && !isFetching && !isOld) return <Failure error={error} onRetry={() => void refetch()} />;
  if (isPending || data === undefined) return <Loading what={what} {...(rows !== undefined && { rows })} />;
  // An older answer stays until the new one is there, and looks it.
  return (
    <>
      {isOld && (
        <p class="note" data-tone="warn" role="alert">
          This may be out of date. {told(error)}{" "}
          <button type="button" class="link" onClick={() => void refetch()}>
            Try again
          </button>
        </p>
      )}
      <div aria-busy={isPlaceholderData}>{children(data)}</div>
    </>
  );
}
