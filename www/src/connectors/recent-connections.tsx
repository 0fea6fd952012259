import { useQuery } from "@tanstack/preact-query";
import { Link } from "wouter-preact";
import { StateBadge } from "../components/badge";
import { EmptyState } from "../components/empty-state";
import { QueryView } from "../components/query-view";
import { RelativeTime } from "../components/relative-time";
import { useSession } from "../session/session";

const MAX_SHOWN = 5;

export function RecentConnections({ platform }: { platform: string }) {
  const { vault, may } = useSession();
  const query = useQuery({
    queryKey: ["connections", "of", platform],
    queryFn: ({ signal }) => vault.connections.list({ platform, limit: MAX_SHOWN }, { signal }),
    enabled: may("connections:read"),
  });
  if (!may("connections:read")) return null;
  const search = `?platform=${encodeURIComponent(platform)}`;
  const allHref = `/connections${search}`;
  return (
    <section class="section recent-connections" aria-labelledby="connections-title">
      <div class="title">
        <h2 id="connections-title">Connections</h2>
        <p class="muted" role="status">
          {query.data && `${query.data.total.toLocaleString("en")} active`}
        </p>
      </div>
      <QueryView query={query} name="connections" rows={3}>
        {({ rows, total }) =>
          rows.length === 0 ? (
            <EmptyState title="No connections yet" />
          ) : (
            <>
              <ul class="action-list">
                {rows.map(({ id, identity, identityType, state, createdAt }) => (
                  <li key={id} class="connection-line">
                    <Link href={`/connections/${id}${search}`}>{identity}</Link>
                    <span class="muted small">{identityType}</span>
                    <StateBadge state={state} />
                    <span class="muted small">
                      <RelativeTime at={createdAt} />
                    </span>
                  </li>
                ))}
              </ul>
              <p>
                <Link href={allHref}>
                  {total > MAX_SHOWN ? `All ${total.toLocaleString("en")} connections` : "Open in Connections"}
                </Link>
              </p>
            </>
          )
        }
      </QueryView>
    </section>
  );
}
