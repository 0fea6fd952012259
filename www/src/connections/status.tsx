import { keepPreviousData, useQuery, type UseQueryResult } from "@tanstack/preact-query";
import { NotFoundError, type Connection, type ConnectionStatus } from "connector-vault/slim";
import type { ComponentChildren } from "preact";
import { Link } from "wouter-preact";
import { clientHref } from "../integrations/hooks";
import { QueryView } from "../components/query-view";
import { accountName } from "../components/account-name";
import { DueTime, RelativeTime } from "../components/relative-time";
import { useSession } from "../session/session";
import { Reason } from "../events/reason";

/** Query key, regardless of the version. */
export const statusKey = (id: string) => ["status", id];

/** The status, refetched when the connection changes. */
export function useStatus({ id, version }: Connection) {
  const { vault } = useSession();
  return useQuery({
    queryKey: [...statusKey(id), version],
    queryFn: ({ signal }) => vault.connections.status(id, { signal }),
    placeholderData: keepPreviousData,
  });
}

export const needsReconnect = (status: ConnectionStatus) => status.state === "failed" || status.actor === "user";

interface Props {
  connection: Connection;
  query: UseQueryResult<ConnectionStatus>;
}

export function Status({ connection, query }: Props) {
  // The panel itself reports a deleted connection.
  if (query.error instanceof NotFoundError) return null;
  return (
    <QueryView query={query} what="the status" rows={2}>
      {(status) => <StatusFacts status={status} platform={connection.platform} />}
    </QueryView>
  );
}

function StatusFacts({ status, platform }: { status: ConnectionStatus; platform: string }) {
  const { state, since, reason, actor, attempts, nextAttemptAt, expiresAt, lastRefreshedAt, scopes, missingScopes } =
    status;
  const isNotWorking = state !== "operational" && (state !== "unknown" || reason !== null);
  const who = <Actor status={status} platform={platform} />;
  return (
    <dl class="facts status-facts">
      {status.account && (
        <Fact name="Account">
          {accountName(status.account)}
          {status.account.name !== null && status.account.name !== status.account.id && (
            <span class="muted small"> {status.account.id}</span>
          )}
        </Fact>
      )}
      {since && (
        <Fact name="Since">
          <RelativeTime at={since} showExact />
        </Fact>
      )}
      {reason && (
        <Fact name="Reason">
          <Reason reason={reason} />
        </Fact>
      )}
      {isNotWorking && <Fact name="Who must act">{who}</Fact>}
      {attempts > 0 && <Fact name="Failed attempts">{attempts}</Fact>}
      {nextAttemptAt && (!isNotWorking || actor !== "nobody") && (
        <Fact name="Next attempt">
          <DueTime at={nextAttemptAt} showExact />
        </Fact>
      )}
      <Fact name="Credentials">{status.holdsCredentials ? "In the vault, encrypted" : "Not in the vault"}</Fact>
      {expiresAt && (
        <Fact name="Token expires">
          <RelativeTime at={expiresAt} showExact />
        </Fact>
      )}
      {lastRefreshedAt && (
        <Fact name="Last refreshed">
          <RelativeTime at={lastRefreshedAt} showExact />
        </Fact>
      )}
      {scopes.length > 0 && (
        <Fact name="Scopes">
          <Chips words={scopes} />
        </Fact>
      )}
      {missingScopes.length > 0 && (
        <Fact name="Missing scopes">
          <Chips words={missingScopes} />
        </Fact>
      )}
    </dl>
  );
}

function Actor({ status: { actor, nextAttemptAt }, platform }: { status: ConnectionStatus; platform: string }) {
  const { may } = useSession();
  if (actor === "user") return <>The user must reconnect.</>;
  if (actor === "account") {
    const client = "the OAuth client";
    return <>Your team must fix {may("clients:read") ? <Link href={clientHref(platform)}>{client}</Link> : client}.</>;
  }
  if (!nextAttemptAt) return <>No action needed.</>;
  return (
    <>
      No action needed: the service retries <DueTime at={nextAttemptAt} />.
    </>
  );
}

const Chips = ({ words }: { words: readonly string[] }) => (
  <span class="chips">
    {words.map((word) => (
      <span key={word} class="chip">
        {word}
      </span>
    ))}
  </span>
);

const Fact = ({ name, children }: { name: string; children: ComponentChildren }) => (
  <>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </>
);
