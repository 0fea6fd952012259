import { keepPreviousData, useQuery } from "@tanstack/preact-query";
import type { Action } from "connector-vault/slim";
import { Link } from "wouter-preact";
import { MethodBadge } from "../components/badge";
import { Logo } from "../components/logo";
import { CATALOG_FRESH_MS, useSession } from "../session/session";
import { usePlatforms } from "./platforms";

const MAX_RESULTS = 6;

/** The best matches among the actions of all platforms. Renders nothing if there are none. */
export function ActionResults({ q }: { q: string }) {
  const { vault } = useSession();
  const { data, isPlaceholderData } = useQuery({
    queryKey: ["found-actions", q],
    queryFn: ({ signal }) => vault.actions.search({ q, limit: MAX_RESULTS }, { signal }),
    placeholderData: keepPreviousData,
    staleTime: CATALOG_FRESH_MS,
  });
  const platforms = usePlatforms(data !== undefined);
  if (!data || data.rows.length === 0) return null;
  return (
    <section class="section action-results" aria-labelledby="found-actions-title">
      <h2 id="found-actions-title">Actions</h2>
      <ul class="action-list" aria-labelledby="found-actions-title" aria-busy={isPlaceholderData}>
        {data.rows.map((action) => {
          const { name = action.platform, image } = platforms?.byName.get(action.platform) ?? {};
          return <Row key={`${action.platform} ${action.key}`} action={action} name={name} image={image} />;
        })}
      </ul>
    </section>
  );
}

function Row({ action, name, image }: { action: Action; name: string; image: string | undefined }) {
  const { title, key, method, platform } = action;
  return (
    <li class="action">
      <Logo name={name} image={image} size={24} />
      <Link class="action-title" href={`/connectors/${platform}/actions/${encodeURIComponent(key)}`}>
        {title}
      </Link>
      <MethodBadge method={method} />
      <span class="action-result-platform muted small">{name}</span>
    </li>
  );
}
