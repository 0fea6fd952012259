import { useInfiniteQuery, useQuery } from "@tanstack/preact-query";
import type { EventFilters, EventType, VaultEvent } from "connector-vault/slim";
import { useEffect, useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { describeError } from "../components/error-message";
import { findFaultMessage } from "../components/faults";
import { Log } from "../components/log";
import { Logo } from "../components/logo";
import { Page } from "../components/page";
import { pluralize } from "../components/pluralize";
import { RelativeTime, formatExact } from "../components/relative-time";
import { SearchField } from "../components/search-field";
import { Select } from "../components/select";
import { Snippet, toLiteral, pathWithQuery } from "../components/snippet";
import { useUrlState } from "../components/url-state";
import { usePlatforms, type Platforms } from "../connectors/platforms";
import { DEFAULT_CLIENT } from "../integrations/hooks";
import { useSession } from "../session/session";
import { EventDetails } from "./details";
import { EVENT_TYPES, eventLabel } from "./messages";

const PAGE_SIZE = 50;
const POLL_MS = 3_000;
/** A cursor before the first event. `LAST_CURSOR` is after the last one. */
const FIRST_CURSOR = "evt_0000000000000";
const LAST_CURSOR = "evt_9999999999999";
const PARAMETERS = ["type", "connection"] as const;

const PROBLEM_TYPES: readonly EventType[] = [
  "connection.failed",
  "connection.degraded",
  "oauth_client.rejected",
  "grant.revocation_failed",
  "webhook.disabled",
];
/** Filter options for several event types. */
const TYPE_GROUPS: Record<string, readonly EventType[]> = { problems: PROBLEM_TYPES };

function parseFilters({ type, connection }: { type?: string; connection?: string }): EventFilters {
  const types = type === undefined ? undefined : (TYPE_GROUPS[type] ?? [type as EventType]);
  return { ...(types && { types }), ...(connection && { connection }) };
}

/** The event log, newest first, with live updates. */
export function EventsView() {
  const { vault } = useSession();
  const { values, change } = useUrlState(PARAMETERS);
  const filters = parseFilters(values);
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
      <div class="log-filters" role="search" aria-label="Events">
        <Select
          label="Type"
          value={values.type ?? ""}
          options={[
            ["", "All events"],
            ["connection.called", "Calls only"],
            ["problems", "Problems only"],
            ...EVENT_TYPES.filter((type) => type !== "connection.called").map(
              (type) => [type, eventLabel(type)] as const,
            ),
          ]}
          hint={
            values.type === "connection.called"
              ? "GET and HEAD calls are recorded only if the operator sets CALL_EVENTS to “all”."
              : undefined
          }
          fault={findFaultMessage(faults, "types")}
          onChange={(type) => change({ type })}
        />
        <SearchField
          label="Connection"
          placeholder="Connection ID"
          value={values.connection ?? ""}
          fault={findFaultMessage(faults, "connection")}
          maxLength={64}
          onChange={(connection) => change({ connection: connection.trim() }, { replace: true })}
        />
      </div>
      {findFaultMessage(faults, "connection") && (
        <p>
          <Link href={`/connections?active=all&q=${encodeURIComponent(values.connection ?? "")}`}>
            Find the connection
          </Link>
        </p>
      )}
      {faults.length === 0 && (
        // A new key resets the state, which contains new events for the previous filters.
        <Events key={JSON.stringify(filters)} filters={filters} isFollowing={isFollowing} />
      )}
      <Snippet
        call={{
          method: "GET",
          path: pathWithQuery("/v1/events", { ...filters, order: "newest" }),
          javascript: `const { rows } = await vault.events.page(${toLiteral({ ...filters, order: "newest" })});`,
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
      vault.events.page({ ...filters, order: "newest", limit: PAGE_SIZE, after: pageParam }, { signal }),
    initialPageParam: LAST_CURSOR,
    // At the end of the feed, `next` is the cursor of the request.
    getNextPageParam: ({ next }, _, cursor) => (next === cursor ? undefined : next),
    // A refetch is not necessary: events never change, and new events are polled separately.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  const pageEvents = query.data?.pages.flatMap(({ rows }) => rows) ?? [];
  const { newEvents, error } = useNewEvents(filters, query.data && (pageEvents[0]?.id ?? FIRST_CURSOR), isFollowing);
  const events = [...newEvents, ...pageEvents];
  return (
    <>
      {isFollowing && error !== null && (
        <p class="note" data-tone="warn" role="alert">
          New events can't be loaded. {describeError(error)} The page keeps trying.
        </p>
      )}
      <p class="visually-hidden" role="status">
        {newEvents.length > 0 && pluralize(newEvents.length, "new event")}
      </p>
      <Log
        query={query}
        rows={events}
        label="Events"
        empty={isFollowing ? "New ones appear here as they happen." : "Events are deleted after some time."}
      >
        {(event) => <Row key={event.id} event={event} platforms={platforms} />}
      </Log>
    </>
  );
}

/** Polls for events after a cursor. Returns them newest first. */
function useNewEvents(filters: EventFilters, startCursor: string | undefined, isFollowing: boolean) {
  const { vault } = useSession();
  const [newEvents, setNewEvents] = useState<readonly VaultEvent[]>([]);
  const [cursor, setCursor] = useState<string>();
  const after = cursor ?? startCursor;
  const { data, error } = useQuery({
    queryKey: ["events", filters, "after", after],
    queryFn: ({ signal }) => vault.events.page({ ...filters, limit: 100, after }, { signal }),
    enabled: isFollowing && after !== undefined,
    refetchInterval: POLL_MS,
    staleTime: 0,
    gcTime: 0,
  });
  useEffect(() => {
    if (!data || data.next === after) return;
    setCursor(data.next);
    setNewEvents((current) => [...data.rows.toReversed(), ...current]);
  }, [data]);
  return { newEvents, error };
}

function Row({ event, platforms }: { event: VaultEvent; platforms: Platforms | undefined }) {
  const { type, occurredAt, data } = event;
  const connection = "connection" in data ? data.connection : undefined;
  const subject = "oauthClient" in data ? data.oauthClient : "grant" in data ? data.grant : connection;
  const platform = subject && platforms?.byName.get(subject.platform);
  return (
    <li class="log-entry">
      <span class="log-entry-main">
        <strong>{eventLabel(type)}</strong>
        <EventDetails event={event} />
      </span>
      <span class="log-entry-subject one-line">
        {subject && (
          <>
            <Logo name={platform?.name ?? subject.platform} image={platform?.image} size={24} />
            <span>{platform?.name ?? subject.platform}</span>
            {"oauthClient" in data && data.oauthClient.name !== DEFAULT_CLIENT && (
              <span class="muted"> {data.oauthClient.name}</span>
            )}
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
        {"webhook" in data && <Link href={`/webhooks/${encodeURIComponent(data.webhook.id)}`}>Deliveries</Link>}
      </span>
      <span class="log-entry-time muted small" title={formatExact(occurredAt)}>
        <RelativeTime at={occurredAt} />
      </span>
    </li>
  );
}
