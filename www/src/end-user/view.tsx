import type { ConnectionWithAccount } from "connector-vault/slim";
import { useState } from "preact/hooks";
import { EmptyState } from "../components/empty-state";
import { ErrorMessage, isTransient, describeError } from "../components/error-message";
import { Loading } from "../components/loading";
import { Page } from "../components/page";
import { pluralize } from "../components/pluralize";
import { ShowOlder } from "../components/show-older";
import { useSession } from "../session/session";
import { Card } from "./card";
import { ConnectButton, ConnectOutcome, useCanConnect } from "./connect";
import { useOwnConnections } from "./hooks";
import "./end-user.css";

/** An end user's own connections. Scrolls to the connection `selectedId`. */
export function EndUserView({ selectedId }: { selectedId: string | undefined }) {
  const { may } = useSession();
  if (may("connections:read")) return <Connections selectedId={selectedId?.toLowerCase()} />;
  return (
    <Page title="Your connections">
      <EmptyState title="This link has no access to connections">
        Ask for another link where you got this one.
      </EmptyState>
    </Page>
  );
}

function Connections({ selectedId }: { selectedId: string | undefined }) {
  const canConnect = useCanConnect();
  const [notice, setNotice] = useState<string>();
  /** Connections that the user has removed here. The cached lists still contain them. */
  const [removedIds, setRemovedIds] = useState<ReadonlySet<string>>(new Set());
  const activeQuery = useOwnConnections(true);
  const inactiveQuery = useOwnConnections(false);
  const queries = [activeQuery, inactiveQuery];
  const allRows = (query: typeof activeQuery) => query.data?.pages.flatMap(({ rows }) => rows) ?? [];
  const collectRows = (query: typeof activeQuery) => allRows(query).filter(({ id }) => !removedIds.has(id));
  const isLoaded = activeQuery.data !== undefined && inactiveQuery.data !== undefined;
  const total = isLoaded
    ? queries.reduce(
        (sum, query) =>
          sum + (query.data?.pages.at(-1)?.total ?? 0) - allRows(query).length + collectRows(query).length,
        0,
      )
    : undefined;
  const rows = queries.flatMap(collectRows);
  const failedRows = rows.filter(({ state }) => state === "failed");
  const otherRows = rows.filter(({ state }) => state !== "failed");
  const failedQuery = queries.find(({ error, isFetching }) => error && !isFetching);
  const retryFailed = () => queries.forEach((query) => query.error && void query.refetch());
  const cards = (connections: ConnectionWithAccount[], Heading: "h2" | "h3") =>
    connections.length > 0 && (
      <ul class="end-user-cards">
        {connections.map((connection) => (
          <Card
            key={connection.id}
            connection={connection}
            Heading={Heading}
            isSelected={connection.id === selectedId}
            onRemoved={(message) => {
              setRemovedIds(new Set([...removedIds, connection.id]));
              setNotice(message);
            }}
          />
        ))}
      </ul>
    );
  const section = (id: string, title: string, connections: ConnectionWithAccount[]) =>
    connections.length > 0 && (
      <section class="section" aria-labelledby={id}>
        <h2 id={id}>{title}</h2>
        {cards(connections, "h3")}
      </section>
    );
  const isNotFound =
    isLoaded &&
    selectedId !== undefined &&
    !removedIds.has(selectedId) &&
    queries.every((query) => !query.hasNextPage && allRows(query).every(({ id }) => id !== selectedId));
  return (
    <Page
      title="Your connections"
      count={total !== undefined && total > 0 && pluralize(total, "connection")}
      actions={canConnect && <ConnectButton>Connect an account</ConnectButton>}
    >
      <div class="end-user">
        <div role="status">
          <ConnectOutcome />
          {notice && (
            <p class="note" data-tone="good">
              {notice}
            </p>
          )}
        </div>
        {isNotFound && (
          <p class="note" data-tone="warn" role="status">
            This connection was not found. It may have been disconnected.
          </p>
        )}
        {isLoaded && failedQuery && (
          <p class="note" data-tone="warn" role="alert">
            {isTransient(failedQuery.error) && "This may be out of date. "}
            {describeError(failedQuery.error)}{" "}
            <button type="button" class="link" onClick={retryFailed}>
              Try again
            </button>
          </p>
        )}
        {!isLoaded &&
          (failedQuery ? (
            <ErrorMessage error={failedQuery.error} onRetry={retryFailed} />
          ) : (
            <Loading name="your connections" rows={3} />
          ))}
        {total === 0 && (
          <EmptyState title="Nothing is connected yet">
            <p>
              {canConnect
                ? "Connected accounts appear here."
                : "Go back to where you got this link, and connect something there. It will appear here."}
            </p>
          </EmptyState>
        )}
        {isLoaded && section("own-failing", "Needs attention", failedRows)}
        {isLoaded &&
          cards(
            otherRows.filter(({ active }) => active),
            "h2",
          )}
        <ShowOlder query={activeQuery} label="Show more" />
        {isLoaded &&
          section(
            "own-off",
            "Switched off",
            otherRows.filter(({ active }) => !active),
          )}
        <ShowOlder query={inactiveQuery} label="Show more" />
      </div>
    </Page>
  );
}
