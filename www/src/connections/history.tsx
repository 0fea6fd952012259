import { keepPreviousData, useQuery } from "@tanstack/preact-query";
import type { Connection, VaultEvent } from "connector-vault/slim";
import { useState } from "preact/hooks";
import { QueryView } from "../components/query-view";
import { RelativeTime } from "../components/relative-time";
import { EventDetails } from "../events/details";
import { eventLabel } from "../events/messages";
import { useSession } from "../session/session";

const PAGE_SIZE = 500;
const SHOWN_STEP = 50;

export function History({ connection }: { connection: Connection }) {
  const { may, noun } = useSession();
  return (
    <section class="section" aria-labelledby="history-title">
      <h3 id="history-title">History</h3>
      {may("events:read") ? (
        <Events connection={connection} />
      ) : (
        <p class="muted small">
          You can't see its history: your {noun} does not have the scope <code>events:read</code>.
        </p>
      )}
    </section>
  );
}

function Events({ connection: { id, version } }: { connection: Connection }) {
  const { vault } = useSession();
  const [shownCount, setShown] = useState(SHOWN_STEP);
  const query = useQuery({
    queryKey: ["history", id, version],
    queryFn: async ({ signal }) => {
      // The feed returns the oldest events first.
      const events: VaultEvent[] = [];
      for await (const event of vault.events.list({ connection: id, limit: PAGE_SIZE }, { signal })) {
        events.push(event);
      }
      return events.reverse();
    },
    placeholderData: keepPreviousData,
  });
  return (
    <QueryView query={query} name="the history" rows={2}>
      {(events) =>
        events.length === 0 ? (
          <p class="muted">No events. Events are deleted after some time.</p>
        ) : (
          <div class="section">
            <ol class="history" aria-labelledby="history-title">
              {events.slice(0, shownCount).map((event) => (
                <EventItem key={event.id} event={event} />
              ))}
            </ol>
            {events.length > shownCount && (
              <p>
                <button type="button" onClick={() => setShown(shownCount + SHOWN_STEP)}>
                  Show older
                </button>
              </p>
            )}
          </div>
        )
      }
    </QueryView>
  );
}

function EventItem({ event }: { event: VaultEvent }) {
  return (
    <li>
      <p class="history-line">
        <strong>{eventLabel(event.type)}</strong>
        <span class="muted small">
          <RelativeTime at={event.occurredAt} />
        </span>
      </p>
      <EventDetails event={event} />
    </li>
  );
}
