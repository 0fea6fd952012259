import type { UseQueryResult } from "@tanstack/preact-query";
import type { ComponentChildren } from "preact";
import { ErrorMessage, isTransient, describeError } from "./error-message";
import { Loading } from "./loading";

interface Props<Data> {
  query: Pick<UseQueryResult<Data>, "data" | "error" | "isFetching" | "isPending" | "isPlaceholderData"> & {
    refetch: () => unknown;
  };
  /** What the query loads, for screen readers: "connectors". */
  name: string;
  /** Number of placeholder rows. */
  rows?: number;
  children: (data: Data) => ComponentChildren;
}

/**
 * Shows the data of a query, a placeholder while it loads, or the error. After a temporary failure of a refetch, shows
 * the old data with a warning.
 */
export function QueryView<Data>({ query, name, rows, children }: Props<Data>) {
  const { data, error, isFetching, isPending, isPlaceholderData, refetch } = query;
  const isStale = data !== undefined && isTransient(error);
  if (error && !isFetching && !isStale) return <ErrorMessage error={error} onRetry={() => void refetch()} />;
  if (isPending || data === undefined) return <Loading name={name} {...(rows !== undefined && { rows })} />;
  // While new data loads, show the previous data, marked as busy.
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
