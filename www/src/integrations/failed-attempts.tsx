import { useInfiniteQuery } from "@tanstack/preact-query";
import type { AttemptPage, AttemptSummary, Connection } from "connector-vault/slim";
import { Link } from "wouter-preact";
import { ErrorMessage } from "../components/error-message";
import { Loading } from "../components/loading";
import { RelativeTime } from "../components/relative-time";
import { ShowOlder } from "../components/show-older";
import { useSession } from "../session/session";
import { clientHref, DEFAULT_CLIENT } from "./hooks";

const PAGE_SIZE = 10;

interface Props {
  getName: (platform: string) => string;
  /** Only the attempts of one identity at one platform; hidden if there are none. */
  of?: Pick<Connection, "identity" | "platform">;
}

/** Recent failed connect attempts, with their reasons and who must act. */
export function FailedAttempts({ getName, of }: Props) {
  const { vault, may } = useSession();
  const query = useInfiniteQuery({
    queryKey: ["attempts", of?.identity, of?.platform],
    queryFn: ({ pageParam, signal }): Promise<AttemptPage> =>
      vault.connectAttempts.page(
        {
          status: ["failed", "expired"],
          limit: PAGE_SIZE,
          before: pageParam,
          ...(of && { identity: of.identity, platform: of.platform }),
        },
        { signal },
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }: AttemptPage) => next ?? undefined,
    enabled: may("connections:read"),
  });
  if (!may("connections:read")) return null;
  const { data, error, isFetching, isPending, refetch } = query;
  const rows = data?.pages.flatMap((page) => page.rows);
  if (of && !rows?.length) return null;
  const Title = of ? "h3" : "h2";
  return (
    <section class="section" aria-labelledby="attempts-title">
      <div class="title">
        <Title id="attempts-title">Failed attempts</Title>
        <p class="muted">
          Sign-ins at platforms that failed or expired, latest first. They are listed for at least a day.
        </p>
      </div>
      {error && !isFetching ? (
        <ErrorMessage error={error} onRetry={() => void refetch()} />
      ) : isPending || !rows ? (
        <Loading name="attempts" rows={2} />
      ) : rows.length === 0 ? (
        <p class="muted">None.</p>
      ) : (
        <ol class="clients" aria-labelledby="attempts-title">
          {rows.map((attempt) => (
            <Attempt key={attempt.id} attempt={attempt} name={getName(attempt.platform)} />
          ))}
        </ol>
      )}
      <ShowOlder query={query} />
    </section>
  );
}

function Attempt({ attempt, name }: { attempt: AttemptSummary; name: string }) {
  const { client, identity, identityType, connection, error, createdAt } = attempt;
  return (
    <li class="card client">
      <h3 class="break-words">
        {identity} <span class="muted">({identityType})</span> at {name}
      </h3>
      <p class="small muted">
        <RelativeTime at={createdAt} />
        {client !== DEFAULT_CLIENT && <>, with the OAuth client {client}</>}
        {connection && (
          <>
            , to reconnect <Link href={`/connections/${connection}`}>a connection</Link>
          </>
        )}
      </p>
      <p>
        {error ? (
          <>
            {error.detail} <code>{error.code}</code>
          </>
        ) : (
          "The user did not open the link or did not finish within 10 minutes. The platform may have rejected what they entered."
        )}
      </p>
      <p>
        <RequiredAction attempt={attempt} />
      </p>
    </li>
  );
}

function RequiredAction({ attempt: { platform, client, error } }: { attempt: AttemptSummary }) {
  switch (error?.code) {
    case "client_rejected":
    case "request_rejected":
    case "invalid_answer":
    case "issuer_mismatch":
      return (
        <>
          Your team must fix <Link href={clientHref(platform, client)}>the OAuth client</Link>.
        </>
      );
    case "platform_unavailable":
      return <>No action needed: it may work when the user tries again.</>;
    default:
      return <>The user must try again.</>;
  }
}
