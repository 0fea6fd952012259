import { keepPreviousData, useQuery } from "@tanstack/preact-query";
import type { Connection, PlatformCall, VaultEvent } from "connector-vault/slim";
import { useState } from "preact/hooks";
import { eventWords } from "../events/words";
import { Answer } from "../parts/answer";
import { When } from "../parts/when";
import { useSession } from "../session/session";
import { Reason } from "./reason";

const ROWS_AT_A_TIME = 500;
const SHOWN_AT_A_TIME = 50;

/** The reasons for which the service itself has no more words. */
const REASONS: Record<string, string> = {
  platform_unavailable: "The platform can't be reached.",
  invalid_answer: "The platform's response can't be read.",
  grant_rejected: "The platform refused to renew the access once.",
  grant_ended: "The platform refuses to renew the access.",
  credentials_rejected: "The platform rejected the credentials.",
  not_checked: "The platform did not say whether it accepts the credentials.",
  client_rejected: "The platform rejects the OAuth client.",
  request_rejected: "The platform rejects the request.",
  reported: "The state was reported.",
};

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

function Event({ event: { type, occurredAt, data } }: { event: VaultEvent }) {
  return (
    <li>
      <p class="history-line">
        <strong>{eventWords(type)}</strong>
        <span class="muted small">
          <When at={occurredAt} />
        </span>
      </p>
      {data.reason && (
        <p class="small">
          <Reason reason={{ ...data.reason, detail: data.reason.detail ?? REASONS[data.reason.code] ?? null }} />
        </p>
      )}
      {"call" in data && <Called call={data.call} />}
    </li>
  );
}

function Called({ call: { method, action, path, status, error, durationMs } }: { call: PlatformCall }) {
  return (
    <p class="small">
      <code>{method}</code> <code>{action ?? path}</code>{" "}
      <span class="muted">
        {status === null ? <>no response: {error}</> : <>HTTP status {status}</>} after{" "}
        {durationMs.toLocaleString("en")} ms
      </span>
    </p>
  );
}
