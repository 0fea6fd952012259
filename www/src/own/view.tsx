import type { ConnectionWithAccount } from "connector-vault/slim";
import { useState } from "preact/hooks";
import { Empty } from "../parts/empty";
import { Failure, isPassing, told } from "../parts/failure";
import { Loading } from "../parts/loading";
import { Page } from "../parts/page";
import { useSession } from "../session/session";
import { Card } from "./card";
import { ConnectButton, Returned, useMayConnect } from "./connect";
import { useOwn } from "./own";
import "./own.css";

const words = (n: number) => `${n.toLocaleString("en")} ${n === 1 ? "connection" : "connections"}`;

/** An end user's page: their own connections, and what they can do with them; the one with the id `opened` is brought into view. */
export function OwnView({ opened }: { opened: string | undefined }) {
  const { may } = useSession();
  if (may("connections:read")) return <Connections wanted={opened?.toLowerCase()} />;
  return (
    <Page title="Your connections">
      <Empty title="This link has no access to connections">Ask for another link where you got this one.</Empty>
    </Page>
  );
}

function Connections({ wanted }: { wanted: string | undefined }) {
  const mayConnect = useMayConnect();
  const [notice, setNotice] = useState<string>();
  /** What has gone from here, before the lists have been asked again. */
  const [gone, setGone] = useState<ReadonlySet<string>>(new Set());
  const on = useOwn(true);
  const off = useOwn(false);
  const queries = [on, off];
  const allOf = (query: typeof on) => query.data?.pages.flatMap(({ rows }) => rows) ?? [];
  const rowsOf = (query: typeof on) => allOf(query).filter(({ id }) => !gone.has(id));
  const isThere = on.data !== undefined && off.data !== undefined;
  const total = isThere
    ? queries.reduce(
        (sum, query) => sum + (query.data?.pages.at(-1)?.total ?? 0) - allOf(query).length + rowsOf(query).length,
        0,
      )
    : undefined;
  const rows = queries.flatMap(rowsOf);
  const failing = rows.filter(({ state }) => state === "failed");
  const others = rows.filter(({ state }) => state !== "failed");
  const failed = queries.find(({ error, isFetching }) => error && !isFetching);
  const tryAgain = () => queries.forEach((query) => query.error && void query.refetch());
  const cards = (connections: ConnectionWithAccount[], Heading: "h2" | "h3") =>
    connections.length > 0 && (
      <ul class="own-cards">
        {connections.map((connection) => (
          <Card
            key={connection.id}
            connection={connection}
            Heading={Heading}
            isWanted={connection.id === wanted}
            onRemoved={(what) => {
              setGone(new Set([...gone, connection.id]));
              setNotice(what);
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
  const isMissing =
    isThere &&
    wanted !== undefined &&
    !gone.has(wanted) &&
    queries.every((query) => !query.hasNextPage && allOf(query).every(({ id }) => id !== wanted));
  return (
    <Page
      title="Your connections"
      count={total !== undefined && total > 0 && words(total)}
      actions={mayConnect && <ConnectButton>Connect an account</ConnectButton>}
    >
      <div class="own">
        <div role="status">
          <Returned />
          {notice && (
            <p class="note" data-tone="good">
              {notice}
            </p>
          )}
        </div>
        {isMissing && (
          <p class="note" data-tone="warn" role="status">
            This connection was not found. It may have been disconnected.
          </p>
        )}
        {isThere && failed && (
          <p class="note" data-tone="warn" role="alert">
            {isPassing(failed.error) && "This may be out of date. "}
            {told(failed.error)}{" "}
            <button type="button" class="link" onClick={tryAgain}>
              Try again
            </button>
          </p>
        )}
        {!isThere &&
          (failed ? <Failure error={failed.error} onRetry={tryAgain} /> : <Loading what="your connections" rows={3} />)}
        {total === 0 && (
          <Empty title="Nothing is connected yet">
            <p>
              {mayConnect
                ? "What you connect appears here."
                : "Go back to where you got this link, and connect something there. It will appear here."}
            </p>
          </Empty>
        )}
        {isThere && section("own-failing", "Needs attention", failing)}
        {isThere &&
          cards(
            others.filter(({ active }) => active),
            "h2",
          )}
        <More query={on} />
        {isThere &&
          section(
            "own-off",
            "Switched off",
            others.filter(({ active }) => !active),
          )}
        <More query={off} />
      </div>
    </Page>
  );
}

function More({ query: { hasNextPage, isFetchingNextPage, fetchNextPage } }: { query: ReturnType<typeof useOwn> }) {
  if (!hasNextPage) return null;
  return (
    <p>
      <button
        type="button"
        aria-disabled={isFetchingNextPage}
        onClick={() => !isFetchingNextPage && void fetchNextPage()}
      >
        {isFetchingNextPage ? "Loading…" : "Show more"}
      </button>
    </p>
  );
}
