// What needs somebody to act, and who: the users, the account itself, or the service, which tries again.
import type { ConnectionState, ConnectionSummary } from "connector-vault/slim";
import type { ComponentChildren } from "preact";
import { Link } from "wouter-preact";
import { usePlatforms } from "../connectors/platforms";
import { clientHref, useClients } from "../integrations/clients";
import { told } from "../parts/failure";
import { Loading } from "../parts/loading";
import { pathOf } from "../parts/snippet";
import { When } from "../parts/when";
import { useSession } from "../session/session";
import { useWebhooks } from "../webhooks/hooks";

const FIRST_CLIENTS = 5;

const WHO = {
  user: ["The users", "bad"],
  account: ["Your team", "warn"],
  service: ["The service", ""],
} as const;

const links = (filters: object) => pathOf("/connections", filters);
const counted = (count: number, thing: string) => `${count.toLocaleString("en")} ${thing}${count === 1 ? "" : "s"}`;

/** What does not work, by who must act on it. */
export function Attention({ summary }: { summary: ConnectionSummary }) {
  const { may } = useSession();
  const names = usePlatforms()?.byName;
  const clients = useClients(may("clients:read"));
  const webhooks = useWebhooks(may("webhooks:read"));
  const queries = [clients, webhooks];
  // What was answered before stays; that it may be out of date, the summary says.
  const missing = queries.filter(({ data, error }) => error && data === undefined);
  const isLoading = queries.some(({ isFetching, data }) => isFetching && data === undefined);
  const rejected = (clients.data ?? []).filter(({ rejectedSince }) => rejectedSince !== null);
  const disabled = (webhooks.data ?? []).filter((webhook) => webhook.disabled);
  const { failed, degraded } = summary.state;
  const isQuiet = failed + degraded + rejected.length + disabled.length === 0;
  return (
    <section class="card attention" aria-labelledby="attention">
      <h2 id="attention">Who must act</h2>
      {missing[0] && (
        <p class="note" data-tone="warn" role="alert">
          Something may be missing here. {told(missing[0].error)}{" "}
          <button type="button" class="link" onClick={() => missing.forEach((query) => void query.refetch())}>
            Try again
          </button>
        </p>
      )}
      {isLoading ? (
        <Loading what="who must act" rows={2} />
      ) : isQuiet ? (
        missing.length === 0 && <p class="muted">Nobody: no connection is failed or degraded.</p>
      ) : (
        <ul>
          {rejected.slice(0, FIRST_CLIENTS).map(({ platform, rejectedSince }) => {
            const name = names?.get(platform)?.name ?? platform;
            return (
              <Item key={platform} who="account">
                <strong>{name}</strong> rejected your OAuth client {rejectedSince && <When at={rejectedSince} />}: its
                connections can't be renewed until you <Link href={clientHref(platform)}>correct the client</Link>.{" "}
                <Link href={links({ platform, state: "degraded", active: "all" })}>Degraded connections to {name}</Link>
              </Item>
            );
          })}
          {rejected.length > FIRST_CLIENTS && (
            <Item who="account">
              <Link href="/integrations">{counted(rejected.length - FIRST_CLIENTS, "more OAuth client")}</Link>
              {rejected.length - FIRST_CLIENTS === 1 ? " is" : " are"} rejected.
            </Item>
          )}
          {disabled.length > 0 && (
            <Item who="account">
              <Link href="/webhooks">{counted(disabled.length, "webhook")}</Link>{" "}
              {disabled.length === 1 ? "was" : "were"} disabled after failing: correct and enable{" "}
              {disabled.length === 1 ? "it" : "them"}, or delete {disabled.length === 1 ? "it" : "them"}.
            </Item>
          )}
          {failed > 0 && (
            <Item who="user">
              {counted(failed, "failed connection")}: {failed === 1 ? "its user" : "their users"} must reconnect.{" "}
              <List state="failed" count={failed} />
            </Item>
          )}
          {degraded > 0 && (
            <Item who="service">
              {counted(degraded, "degraded connection")}: the service tries again by itself. Each says why, and who else
              must act. <List state="degraded" count={degraded} />
            </Item>
          )}
        </ul>
      )}
    </section>
  );
}

function Item({ who, children }: { who: keyof typeof WHO; children: ComponentChildren }) {
  const [word, tone] = WHO[who];
  return (
    <li>
      <span class="badge dot" data-tone={tone}>
        {word}
      </span>
      <p>{children}</p>
    </li>
  );
}

/** Leads to the connections of a state, active and inactive. */
const List = ({ state, count }: { state: ConnectionState; count: number }) => (
  <Link href={links({ state, active: "all" })}>List {count === 1 ? "it" : "them"}</Link>
);
