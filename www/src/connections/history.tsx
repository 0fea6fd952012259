import { keepPreviousData, useQuery } from "@tanstack/preact-query";
import type { Connection, VaultEvent } from "connector-vault/slim";
import { useState } from "preact/hooks";
import { EventDetails } from "../events/details";
import { eventWords } from "../events/words";
import { Answer } from "../parts/answer";
import { When } from "../parts/when";
import { useSession } from "../session/session";

const ROWS_AT_A_TIME = 500;
const SHOWN_AT_A_TIME = 50;

/** What happened to a connection, latest first. */
export function History({ connection }: { connection: Connection }) {
  const { may } = useSession();
  return (
    <section class="section" aria-labelledby="history-title">
      <h3 id="history-title">History</h3>
      {may("events:read") ? (
        <Events connection={connection} />
      ) : (
        <p class="muted small">
          You can't see what happened to it: your key does not have the scope <code>events:read</code>.
        </p>
      )}
    </section>
  );
}

function Events({ connection: { id, version } }: { connection: Connection }) {
  const { vault } = useSession();
  const [shown, setShown] = useState(SHOWN_AT_A_TIME);
  const query = useQuery({
    queryKey: ["history", id, version],
    queryFn: async ({ signal }) => {
      // The feed has the oldest first, and ends where nothing follows.
      const events: VaultEvent[] = [];
      for await (const event of vault.events.list({ connection: id, limit: ROWS_AT_A_TIME }, { signal })) {
        events.push(event);
      }
      return events.reverse();
    },
    placeholderData: keepPreviousData,
  });
  return (
    <Answer query={query} what="the history" rows={2}>
      {(events) =>
        events.length === 0 ? (
          <p class="muted">No events are kept of it. They are deleted after some time.</p>
        ) : (
          <div class="section">
            <ol class="history" aria-labelledby="history-title">
              {events.slice(0, shown).map((event) => (
                <Event key={event.id} event={event} />
              ))}
            </ol>
            {events.length > shown && (
              <p>
                <button type="button" onClick={() => setShown(shown + SHOWN_AT_A_TIME)}>
                  Show older
                </button>
              </p>
            )}
          </div>
        )
      }
    </Answer>
  );
}

function Event({ event }: { event: VaultEvent }) {
  return (
    <li>
      <p class="history-line">
        <strong>{eventWords(event.type)}</strong>
        <span class="muted small">
          <When at={event.occurredAt} />
        </span>
      </p>
      <EventDetails event={event} />
    </li>
  );
}
