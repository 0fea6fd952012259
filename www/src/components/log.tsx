import type { ComponentChildren, ComponentProps } from "preact";
import { EmptyState } from "./empty-state";
import { QueryView } from "./query-view";
import { ShowOlder } from "./show-older";
import "./log.css";

interface Props<Row> {
  /** An infinite query. */
  query: ComponentProps<typeof QueryView>["query"] & ComponentProps<typeof ShowOlder>["query"];
  rows: readonly Row[];
  /** The name of the list, such as "Events". */
  label: string;
  /** The message for an empty list. */
  empty: string;
  children: (row: Row) => ComponentChildren;
}

/** A list of log entries, newest first, with a button that loads older ones. */
export function Log<Row>({ query, rows, label, empty, children }: Props<Row>) {
  return (
    <QueryView query={query} name={label.toLowerCase()} rows={8}>
      {() => (
        <div class="section">
          {rows.length === 0 ? (
            <EmptyState title={`No ${label.toLowerCase()}${query.hasNextPage ? " so far" : ""}`}>
              {query.hasNextPage ? "There may be older ones." : empty}
            </EmptyState>
          ) : (
            <ol class="log" aria-label={label}>
              {rows.map(children)}
            </ol>
          )}
          <ShowOlder query={query} />
        </div>
      )}
    </QueryView>
  );
}
