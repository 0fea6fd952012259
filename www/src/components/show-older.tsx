interface Props {
  query: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown };
  label?: string;
}

/** A button that loads the next page of an infinite query. Renders nothing after the last page. */
export function ShowOlder({ query: { hasNextPage, isFetchingNextPage, fetchNextPage }, label = "Show older" }: Props) {
  if (!hasNextPage) return null;
  return (
    <p>
      <button
        type="button"
        aria-disabled={isFetchingNextPage}
        onClick={() => !isFetchingNextPage && void fetchNextPage()}
      >
        {isFetchingNextPage ? "Loading…" : label}
      </button>
    </p>
  );
}
