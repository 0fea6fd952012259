import { useInfiniteQuery, useQuery } from "@tanstack/preact-query";
import type { EventFilters, EventType, VaultEvent } from "connector-vault/slim";
import { useEffect, useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { usePlatforms, type Platforms } from "../connectors/platforms";
import { useAddress } from "../parts/address";
import { Answer } from "../parts/answer";
import { Empty } from "../parts/empty";
import { told } from "../parts/failure";
import { faultAt } from "../parts/faults";
import { Logo } from "../parts/logo";
import { Page } from "../parts/page";
import { SearchField } from "../parts/search";
import { Select } from "../parts/select";
import { Snippet, literal, pathOf } from "../parts/snippet";
import { When, exact } from "../parts/when";
import { useSession } from "../session/session";
import { EventDetails } from "./details";
import { EVENT_TYPES, eventWords } from "./words";
import "./events.css";

const ROWS = 50;
/** How often the page asks for new events while it follows them. */
const FOLLOW_MS = 3_000;
/** Where the list begins while there is no event. */
const BEGINNING = "evt_0000000000000";
const NAMES = ["type", "connection"] as const;

const PROBLEMS: readonly EventType[] = [
  "connection.failed",
  "connection.degraded",
  "oauth_client.rejected",
  "grant.revocation_failed",
  "webhook.disabled",
];
/** Choices that stand for several types. */
const GROUPS: Record<string, readonly EventType[]> = { problems: PROBLEMS };

function filtersOf({ type, connection }: { type?: string; connection?: string }): EventFilters {
  const types = type === undefined ? undefined : (GROUPS[type] ?? [type as EventType]);
  return { ...(types && { types }), ...(connection && { connection }) };
}

/** What happened, and who called what: latest first, and new ones as they come. */
export function EventsView() {
  const { vault } = useSession();
  const { values, change } = useAddress(NAMES);
  const filters = filtersOf(values);
  const faults = vault.events.validateList(filters);
  const [isFollowing, setFollowing] = useState(true);
  return (
    <Page
      title="Events"
      actions={
        <button type="button" aria-pressed={isFollowing} onClick={() => setFollowing(!isFollowing)}>
          Follow
        </button>
      }
    >
      <div class="event-filters" role="search" aria-label="Events">
        <Select
          label="Type"
          value={values.type ?? ""}
          options={[
            ["", "All events"],
            ["connection.called", "Calls only"],
            ["problems", "Problems only"],
            ...EVENT_TYPES.filter((type) => type !== "connection.called").map(
              (type) => [type, eventWords(type)] as const,
            ),
          ]}
          fault={faultAt(faults, "types")}
          onChange={(type) => change({ type })}
        />
        <SearchField
          label="Connection"
          placeholder="Its id"
          value={values.connection ?? ""}
          fault={faultAt(faults, "connection")}
          maxLength={64}
          onChange={(connection) => change({ connection: connection.trim() }, { replace: true })}
        />
      </div>
      {faults.length === 0 && (
        // What was collected belongs to these filters.
        <Events key={JSON.stringify(filters)} filters={filters} isFollowing={isFollowing} />
      )}
      <Snippet
        call={{
          method: "GET",
          path: pathOf("/v1/events", { ...filters, order: "newest" }),
          javascript: `const { rows } = await vault.events.page(${literal({ ...filters, order: "newest" })});`,
        }}
      />
    </Page>
  );
}

function Events({ filters, isFollowing }: { filters: EventFilters; isFollowing: boolean }) {
  const { vault } = useSession();
  const platforms = usePlatforms();
  const query = useInfiniteQuery({
    queryKey: ["events", filters],
    queryFn: ({ pageParam, signal }) =>
      vault.events.page({ ...filters, order: "newest", limit: ROWS, after: pageParam }, { signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }, _, asked) => (next === asked ? undefined : next),
    // New events are asked for separately: to read all pages again would show nothing more.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  const known = query.data?.pages.flatMap(({ rows }) => rows) ?? [];
  const { fresh, error } = useFresh(filters, query.data && (known[0]?.id ?? BEGINNING), isFollowing);
  const events = [...fresh, ...known];
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = query;
  return (
    <>
      {isFollowing && error !== null && (
        <p class="note" data-tone="warn" role="alert">
          New events can't be loaded. {told(error)} The page keeps trying.
        </p>
      )}
      <p class="visually-hidden" role="status">
        {fresh.length > 0 && `${fresh.length} new ${fresh.length === 1 ? "event" : "events"}`}
      </p>
      <Answer query={query} what="events" rows={8}>
        {() => (
          <div class="section">
            {events.length === 0 && !hasNextPage ? (
              <Empty title="No events">
                {isFollowing ? "New ones appear here as they happen." : "Events are deleted after some time."}
              </Empty>
            ) : (
              <ol class="events" aria-label="Events">
                {events.map((event) => (
                  <Row key={event.id} event={event} platforms={platforms} />
                ))}
              </ol>
            )}
            {hasNextPage && (
              <p>
                <button
                  type="button"
                  aria-disabled={isFetchingNextPage}
                  onClick={() => !isFetchingNextPage && void fetchNextPage()}
                >
                  {isFetchingNextPage ? "Loading…" : "Show older"}
                </button>
              </p>
            )}
          </div>
        )}
      </Answer>
    </>
  );
}

/** The events after one that is known, latest first, while they are followed. */
function useFresh(filters: EventFilters, from: string | undefined, isFollowing: boolean) {
  const { vault } = useSession();
  const [fresh, setFresh] = useState<readonly VaultEvent[]>([]);
  const [cursor, setCursor] = useState<string>();
  const after = cursor ?? from;
  const { data, error } = useQuery({
    queryKey: ["events", filters, "after", after],
    queryFn: ({ signal }) => vault.events.page({ ...filters, limit: 100, after }, { signal }),
    enabled: isFollowing && after !== undefined,
    refetchInterval: FOLLOW_MS,
    staleTime: 0,
    gcTime: 0,
  });
  useEffect(() => {
    if (!data || data.next === after) return;
    setCursor(data.next);
    setFresh((before) => [...data.rows.toReversed(), ...before]);
  }, [data]);
  return { fresh, error };
}

function Row({ event, platforms }: { event: VaultEvent; platforms: Platforms | undefined }) {
  const { type, occurredAt, data } = event;
  const connection = "connection" in data ? data.connection : undefined;
  const subject = "oauthClient" in data ? data.oauthClient : "grant" in data ? data.grant : connection;
  const platform = subject && platforms?.byName.get(subject.platform);
  return (
    <li class="event">
      <span class="event-what">
        <strong>{eventWords(type)}</strong>
        <EventDetails event={event} />
      </span>
      <span class="event-subject one-line">
        {subject && (
          <>
            <Logo name={platform?.name ?? subject.platform} image={platform?.image} size={24} />
            <span>{platform?.name ?? subject.platform}</span>
          </>
        )}{" "}
        {connection &&
          (type === "connection.deleted" ? (
            <span class="muted">{connection.identity}</span>
          ) : (
            <Link href={`/connections/${connection.id}`} title={connection.identity}>
              {connection.identity}
            </Link>
          ))}
        {"webhook" in data && <Link href={`/webhooks/${encodeURIComponent(data.webhook.id)}`}>Its deliveries</Link>}
      </span>
      <span class="event-when muted small" title={exact(occurredAt)}>
        <When at={occurredAt} />
      </span>
    </li>
  );
}
