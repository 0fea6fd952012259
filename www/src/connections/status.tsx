import { keepPreviousData, useQuery, type UseQueryResult } from "@tanstack/preact-query";
import { NotFoundError, type Connection, type ConnectionStatus } from "connector-vault/slim";
import { Link } from "wouter-preact";
import { accountName } from "../components/account-name";
import { DescriptionItem } from "../components/description-item";
import { QueryView } from "../components/query-view";
import { DueTime, RelativeTime } from "../components/relative-time";
import { Reason } from "../events/reason";
import { clientHref, DEFAULT_CLIENT } from "../integrations/hooks";
import { useSession } from "../session/session";

/** The query key of a connection's status. */
export const statusKey = (id: string) => ["status", id];

/** Loads the status of a connection, again when the connection changes. */
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
  // The panel reports a deleted connection.
  if (query.error instanceof NotFoundError) return null;
  return (
    <QueryView query={query} name="the status" rows={2}>
      {(status) => <StatusDetails status={status} platform={connection.platform} />}
    </QueryView>
  );
}

function StatusDetails({ status, platform }: { status: ConnectionStatus; platform: string }) {
  const { state, since, reason, actor, attempts, nextAttemptAt, expiresAt, lastRefreshedAt, scopes, missingScopes } =
    status;
  const isNotWorking = state !== "operational" && (state !== "unknown" || reason !== null);
  const actorText = <Actor status={status} platform={platform} />;
  return (
    <dl class="description-list">
      {status.account && (
        <DescriptionItem name="Account">
          {accountName(status.account)}
          {status.account.name !== null && status.account.name !== status.account.id && (
            <span class="muted small"> {status.account.id}</span>
          )}
        </DescriptionItem>
      )}
      {since && (
        <DescriptionItem name="Since">
          <RelativeTime at={since} showExact />
        </DescriptionItem>
      )}
      {reason && (
        <DescriptionItem name="Reason">
          <Reason reason={reason} />
        </DescriptionItem>
      )}
      {isNotWorking && <DescriptionItem name="Who must act">{actorText}</DescriptionItem>}
      {attempts > 0 && <DescriptionItem name="Failed attempts">{attempts}</DescriptionItem>}
      {nextAttemptAt && (!isNotWorking || actor !== "nobody") && (
        <DescriptionItem name="Next attempt">
          <DueTime at={nextAttemptAt} showExact />
        </DescriptionItem>
      )}
      <DescriptionItem name="Credentials">
        {status.holdsCredentials ? "In the vault, encrypted" : "Not in the vault"}
        {status.awaitsCutOver && "; imported, and still refreshed by the service that had them before"}
      </DescriptionItem>
      {status.authMethod && <DescriptionItem name="Auth method">{status.authMethod}</DescriptionItem>}
      {status.client && status.client !== DEFAULT_CLIENT && (
        <DescriptionItem name="OAuth client">{status.client}</DescriptionItem>
      )}
      {expiresAt && (
        <DescriptionItem name={Date.parse(expiresAt) > Date.now() ? "Token expires" : "Token expired"}>
          <RelativeTime at={expiresAt} showExact />
        </DescriptionItem>
      )}
      {lastRefreshedAt && (
        <DescriptionItem name="Last refreshed">
          <RelativeTime at={lastRefreshedAt} showExact />
        </DescriptionItem>
      )}
      {scopes.length > 0 && (
        <DescriptionItem name="Scopes">
          <Chips labels={scopes} />
        </DescriptionItem>
      )}
      {missingScopes.length > 0 && (
        <DescriptionItem name="Missing scopes">
          <Chips labels={missingScopes} />
          <span class="muted small"> Calls that need them fail.</span>
        </DescriptionItem>
      )}
    </dl>
  );
}

function Actor({ status: { actor, nextAttemptAt, client }, platform }: { status: ConnectionStatus; platform: string }) {
  const { may } = useSession();
  if (actor === "user") return <>The user must reconnect.</>;
  if (actor === "account") {
    const text = "the OAuth client";
    return (
      <>
        Your team must fix{" "}
        {may("clients:read") ? <Link href={clientHref(platform, client ?? undefined)}>{text}</Link> : text}.
      </>
    );
  }
  if (!nextAttemptAt) return <>No action needed.</>;
  return (
    <>
      No action needed: the service retries <DueTime at={nextAttemptAt} />.
    </>
  );
}

const Chips = ({ labels }: { labels: readonly string[] }) => (
  <span class="chips">
    {labels.map((label) => (
      <span key={label} class="chip">
        {label}
      </span>
    ))}
  </span>
);
