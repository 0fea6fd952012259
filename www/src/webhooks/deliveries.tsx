import { useInfiniteQuery } from "@tanstack/preact-query";
import type { Delivery, DeliveryPage, DeliveryState } from "connector-vault/slim";
import { useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { EmptyState } from "../components/empty-state";
import { ErrorMessage, describeError } from "../components/error-message";
import { Loading } from "../components/loading";
import { Notice } from "../components/notice";
import { Page } from "../components/page";
import { pluralize } from "../components/pluralize";
import { DueTime, RelativeTime } from "../components/relative-time";
import { Select } from "../components/select";
import { ShowOlder } from "../components/show-older";
import { useUrlState } from "../components/url-state";
import { useSingleFlight } from "../components/use-single-flight";
import { eventLabel } from "../events/messages";
import { useSession } from "../session/session";
import { deliveriesKey, useWebhooks, useInvalidateWebhooks } from "./hooks";
import { errorLabel } from "./messages";
import "./webhooks.css";

const PAGE_SIZE = 50;
const STATE_TONES = { pending: "warn", delivered: "good", failed: "bad" } as const;
const STATES = Object.keys(STATE_TONES);
const PARAMETERS = ["state"] as const;

/** The deliveries of a webhook, those of the latest events first. */
export function DeliveriesView({ id }: { id: string }) {
  const { vault, may, noun } = useSession();
  const webhooks = useWebhooks();
  const invalidate = useInvalidateWebhooks();
  const [notice, setNotice] = useState<string>();
  const { values, change } = useUrlState(PARAMETERS);
  // The URL can contain any value. The service validates it.
  const state = values.state as DeliveryState | undefined;
  const query = useInfiniteQuery({
    queryKey: [...deliveriesKey(id), state],
    queryFn: ({ pageParam, signal }): Promise<DeliveryPage> =>
      vault.webhooks.deliveryPage(id, { state, limit: PAGE_SIZE, before: pageParam }, { signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }: DeliveryPage) => next ?? undefined,
  });
  const replaying = useSingleFlight({
    mutationFn: async ({ from, to }: { from: string; to?: string }) => {
      let queued = 0;
      // Repeat, because each call queues at most 1,000 events.
      for (let next: string | null = from; next !== null; ) {
        const replayResult = await vault.webhooks.replay(id, { from: next, to });
        queued += replayResult.queued;
        next = replayResult.next;
      }
      return queued;
    },
    onSuccess: (queued) => {
      setNotice(`${pluralize(queued, "event")} will be sent again.`);
      return invalidate();
    },
  });
  const replay = (range: { from: string; to?: string }) => {
    setNotice(undefined);
    replaying.run(range);
  };
  const rows = query.data?.pages.flatMap((page) => page.rows);
  const url = webhooks.data?.find((webhook) => webhook.id === id)?.url;
  return (
    <Page
      title="Deliveries"
      breadcrumb={<Link href="/webhooks">Webhooks</Link>}
      actions={
        <button type="button" onClick={() => void query.refetch()}>
          Refresh
        </button>
      }
    >
      {url && (
        <p class="break-words">
          To <strong>{url}</strong>
        </p>
      )}
      {!may("webhooks:write") && (
        <p>
          You can't send events again: your {noun} does not have the scope <code>webhooks:write</code>.
        </p>
      )}
      <div class="delivery-filters" role="search" aria-label="Deliveries">
        <Select
          label="State"
          value={state ?? ""}
          options={[["", "All states"], ...STATES.map((name) => [name, name] as const)]}
          onChange={(value) => change({ state: value })}
        />
      </div>
      <Notice>{notice}</Notice>
      {replaying.error && (
        <p class="note" data-tone="bad" role="alert">
          {describeError(replaying.error)} Some events may not have been sent again. Try again.
        </p>
      )}
      {query.error && !query.isFetching ? (
        <ErrorMessage error={query.error} onRetry={() => void query.refetch()} />
      ) : rows === undefined ? (
        <Loading name="deliveries" />
      ) : rows.length === 0 ? (
        <EmptyState title={state ? `No ${state} deliveries` : "No deliveries yet"}>
          {state ? "Choose another state to see others." : "No event has matched this webhook yet."}
        </EmptyState>
      ) : (
        <ol class="webhooks deliveries" aria-label="Deliveries">
          {rows.map((delivery) => (
            <Row
              key={delivery.event}
              delivery={delivery}
              isBusy={replaying.isPending}
              onReplay={may("webhooks:write") ? replay : undefined}
            />
          ))}
        </ol>
      )}
      <ShowOlder query={query} />
    </Page>
  );
}

interface RowProps {
  delivery: Delivery;
  isBusy: boolean;
  /** Undefined if the key may not replay events. */
  onReplay: ((range: { from: string; to?: string }) => void) | undefined;
}

function Row({ delivery, isBusy, onReplay }: RowProps) {
  const { event, type, occurredAt, state, attempts, nextAttemptAt, httpStatus, error } = delivery;
  return (
    <li class="card list-card">
      <div class="list-card-head">
        <h2>{eventLabel(type)}</h2>
        <span class="badge dot" data-tone={STATE_TONES[state]}>
          {state}
        </span>
      </div>
      <p class="small">
        <code>{event}</code>{" "}
        <span class="muted">
          happened <RelativeTime at={occurredAt} />
        </span>
      </p>
      <p class="small">
        {pluralize(attempts, "attempt")}
        {httpStatus !== null && `, HTTP status ${httpStatus}`}
        {error !== null && `, ${errorLabel(error)}`}
        {nextAttemptAt && (
          <>
            , next attempt <DueTime at={nextAttemptAt} />
          </>
        )}
      </p>
      {onReplay && (
        <div class="buttons">
          <button
            type="button"
            aria-label={`Send again ${event}`}
            aria-disabled={isBusy}
            onClick={() => onReplay({ from: event, to: event })}
          >
            Send again
          </button>
          <button
            type="button"
            aria-label={`Replay from here, ${event}`}
            title="Sends this event and all later ones again"
            aria-disabled={isBusy}
            onClick={() => onReplay({ from: event })}
          >
            Replay from here
          </button>
        </div>
      )}
    </li>
  );
}
