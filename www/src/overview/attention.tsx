// Lists problems and who must act: the users, the team, or the service, which retries.
import type { ConnectionState, ConnectionSummary } from "connector-vault/slim";
import type { ComponentChildren } from "preact";
import { Link } from "wouter-preact";
import { describeError } from "../components/error-message";
import { Loading } from "../components/loading";
import { pluralize } from "../components/pluralize";
import { RelativeTime } from "../components/relative-time";
import { pathWithQuery } from "../components/snippet";
import { usePlatforms } from "../connectors/platforms";
import { clientHref, DEFAULT_CLIENT, useClients } from "../integrations/hooks";
import { useSession } from "../session/session";
import { useWebhooks } from "../webhooks/hooks";

const MAX_SHOWN_CLIENTS = 5;

const ACTORS = {
  user: ["The users", "bad"],
  account: ["Your team", "warn"],
  service: ["The service", ""],
} as const;

const connectionsHref = (filters: object) => pathWithQuery("/connections", filters);

export function Attention({ summary }: { summary: ConnectionSummary }) {
  const { may } = useSession();
  const names = usePlatforms()?.byName;
  const clients = useClients(may("clients:read"));
  const webhooks = useWebhooks(may("webhooks:read"));
  const queries = [clients, webhooks];
  // If old data exists, show no error: the summary already warns that it may be out of date.
  const failedQueries = queries.filter(({ data, error }) => error && data === undefined);
  const isLoading = queries.some(({ isFetching, data }) => isFetching && data === undefined);
  const rejectedClients = (clients.data ?? []).filter(({ rejectedSince }) => rejectedSince !== null);
  const disabled = (webhooks.data ?? []).filter((webhook) => webhook.disabled);
  const { failed, degraded } = summary.state;
  const hasNoItems = failed + degraded + rejectedClients.length + disabled.length === 0;
  return (
    <section class="card attention" aria-labelledby="attention">
      <h2 id="attention">Who must act</h2>
      {failedQueries[0] && (
        <p class="note" data-tone="warn" role="alert">
          This list may be incomplete. {describeError(failedQueries[0].error)}{" "}
          <button type="button" class="link" onClick={() => failedQueries.forEach((query) => void query.refetch())}>
            Try again
          </button>
        </p>
      )}
      {isLoading ? (
        <Loading name="who must act" rows={2} />
      ) : hasNoItems ? (
        failedQueries.length === 0 && <p class="muted">No action needed: no connection is failed or degraded.</p>
      ) : (
        <ul>
          {rejectedClients.slice(0, MAX_SHOWN_CLIENTS).map(({ platform, name: clientName, rejectedSince }) => {
            const name = names?.get(platform)?.name ?? platform;
            return (
              <AttentionItem key={`${platform}/${clientName}`} actor="account">
                <strong>{name}</strong> rejected your OAuth client{clientName !== DEFAULT_CLIENT && ` “${clientName}”`}{" "}
                {rejectedSince && <RelativeTime at={rejectedSince} />}: its connections can't be refreshed until you{" "}
                <Link href={clientHref(platform, clientName)}>fix the client</Link>.{" "}
                <Link href={connectionsHref({ platform, state: "degraded", active: "all" })}>
                  Degraded connections to {name}
                </Link>
              </AttentionItem>
            );
          })}
          {rejectedClients.length > MAX_SHOWN_CLIENTS && (
            <AttentionItem actor="account">
              <Link href="/integrations">
                {pluralize(rejectedClients.length - MAX_SHOWN_CLIENTS, "more OAuth client")}
              </Link>
              {rejectedClients.length - MAX_SHOWN_CLIENTS === 1 ? " is" : " are"} rejected.
            </AttentionItem>
          )}
          {disabled.length > 0 && (
            <AttentionItem actor="account">
              <Link href="/webhooks">{pluralize(disabled.length, "webhook")}</Link>{" "}
              {disabled.length === 1 ? "was" : "were"} disabled after failing: fix and enable{" "}
              {disabled.length === 1 ? "it" : "them"}, or delete {disabled.length === 1 ? "it" : "them"}.
            </AttentionItem>
          )}
          {failed > 0 && (
            <AttentionItem actor="user">
              {pluralize(failed, "failed connection")}: {failed === 1 ? "its user" : "their users"} must reconnect.{" "}
              <ListLink state="failed" count={failed} />
            </AttentionItem>
          )}
          {degraded > 0 && (
            <AttentionItem actor="service">
              {pluralize(degraded, "degraded connection")}: the service retries automatically. Each connection shows the
              reason, and who else must act. <ListLink state="degraded" count={degraded} />
            </AttentionItem>
          )}
        </ul>
      )}
    </section>
  );
}

function AttentionItem({ actor, children }: { actor: keyof typeof ACTORS; children: ComponentChildren }) {
  const [label, tone] = ACTORS[actor];
  return (
    <li>
      <span class="badge dot" data-tone={tone}>
        {label}
      </span>
      <p>{children}</p>
    </li>
  );
}

/** Links to active and inactive connections in a state. */
const ListLink = ({ state, count }: { state: ConnectionState; count: number }) => (
  <Link href={connectionsHref({ state, active: "all" })}>List {count === 1 ? "it" : "them"}</Link>
);
