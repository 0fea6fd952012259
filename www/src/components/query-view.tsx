import type { UseQueryResult } from "@tanstack/preact-query";
import type { ComponentChildren } from "preact";
import { ErrorMessage, isTransient, describeError } from "./error-message";
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
export function QueryView<Data>({ query, what, rows, children }: Props<Data>) {
  const { data, error, isFetching, isPending, isPlaceholderData, refetch } = query;
  const isStale = data !== undefined && isTransient(error);
  if (error && !isFetching && !isStale) return <ErrorMessage error={error} onRetry={() => void refetch()} />;
  if (isPending || data === undefined) return <Loading what={what} {...(rows !== undefined && { rows })} />;
  // An older answer stays until the new one is there, and looks it.
  return (
    <>
      {isStale && (
        <p class="note" data-tone="warn" role="alert">
          This may be out of date. {describeError(error)}{" "}
          <button type="button" class="link" onClick={() => void refetch()}>
            Try again
          </button>
        </p>
      )}
      <div aria-busy={isPlaceholderData}>{children(data)}</div>
    </>
  );
}
