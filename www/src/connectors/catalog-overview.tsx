import { useQuery } from "@tanstack/preact-query";
import type { Connector } from "connector-vault/slim";
import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { Link } from "wouter-preact";
import { EmptyState } from "../components/empty-state";
import { Loading } from "../components/loading";
import { Logo } from "../components/logo";
import { NoSuchPage } from "../components/no-such-page";
import { NumberedPager } from "../components/pager";
import { pluralize } from "../components/pluralize";
import { CATALOG_FRESH_MS, useSession } from "../session/session";
import { ConnectorCards, PAGE_SIZE } from "./cards";
import type { Family } from "./families";
import type { Platforms } from "./platforms";

/** Maximum number of connectors in a section. A link leads to the others. */
const MAX_SHOWN = 12;

type HrefOf = (values: { page: string | undefined }) => string;

/** The whole catalog: connected platforms, enabled platforms and families first, then all others page by page. */
export function CatalogOverview({ platforms, page, getHref }: { platforms: Platforms; page: number; getHref: HrefOf }) {
  const { vault, may } = useSession();
  const summary = useQuery({
    queryKey: ["summary"],
    queryFn: ({ signal }) => vault.connections.summary({ signal }),
    enabled: may("connections:read"),
  });
  const enabled = useQuery({
    queryKey: ["connectors", "enabled"],
    queryFn: ({ signal }) => vault.connectors.list({ authkit: true, limit: PAGE_SIZE }, { signal }),
    staleTime: CATALOG_FRESH_MS,
  });
  const { byName, families, others } = platforms;
  if (byName.size === 0)
    return (
      <EmptyState title="The catalog is empty">
        Publish a catalog: <code>npm run catalog -- publish</code>
      </EmptyState>
    );
  // The page also works without this data. Wait for it anyway, because late sections would move the content.
  if (summary.isLoading || enabled.isLoading) return <Loading name="connectors" rows={8} />;
  const connectedPlatforms = summary.data?.platforms ?? [];
  const connected = connectedPlatforms.flatMap(({ platform }) => byName.get(platform) ?? []).slice(0, MAX_SHOWN);
  const enabledRows = without(enabled.data?.rows ?? [], connected).slice(0, MAX_SHOWN);
  const counts = new Map(connectedPlatforms.map(({ platform, total }) => [platform, pluralize(total, "connection")]));
  const remaining = without(others, [...connected, ...enabledRows]);
  const hasHighlights = page === 1 && connected.length + enabledRows.length + families.length > 0;
  return (
    <div class="catalog-overview">
      {hasHighlights && (
        <>
          {connected.length > 0 && (
            <OverviewSection title="Connected" more={<Link href="/">All platforms with connections</Link>}>
              {(label) => <ConnectorCards label={label} connectors={connected} badges={counts} />}
            </OverviewSection>
          )}
          {enabledRows.length > 0 && (
            <OverviewSection
              title="Enabled for hosted authorization"
              more={<Link href="/connectors?authkit=true">All enabled connectors</Link>}
            >
              {(label) => <ConnectorCards label={label} connectors={enabledRows} />}
            </OverviewSection>
          )}
          {families.length > 0 && (
            <OverviewSection title="Families">
              {(label) => (
                <ul class="families" aria-label={label}>
                  {families.map((family) => (
                    <FamilyCard key={family.id} family={family} />
                  ))}
                </ul>
              )}
            </OverviewSection>
          )}
        </>
      )}
      {(remaining.length > 0 || page > 1) && (
        <OverviewSection title={hasHighlights || page > 1 ? "More connectors" : "All connectors"}>
          {() => <PagedCards connectors={remaining} page={page} getHref={getHref} />}
        </OverviewSection>
      )}
    </div>
  );
}

function without(connectors: readonly Connector[], excluded: readonly Connector[]) {
  const keys = new Set(excluded.map(({ key }) => key));
  return connectors.filter(({ key }) => !keys.has(key));
}

interface OverviewSectionProps {
  title: string;
  /** Link to the connectors that the section does not show. */
  more?: ComponentChildren;
  /** Renders the content with the section's accessible name. */
  children: (label: string) => ComponentChildren;
}

function OverviewSection({ title, more, children }: OverviewSectionProps) {
  const id = useId();
  return (
    <section class="section" aria-labelledby={id}>
      <div class="section-title">
        <h2 id={id}>{title}</h2>
        {more}
      </div>
      {children(title)}
    </section>
  );
}

const FamilyCard = ({ family: { id, name, image, connectors } }: { family: Family }) => (
  <li>
    <Link class="card family" href={`/connectors?family=${encodeURIComponent(id)}`}>
      <Logo name={name} image={image} size={32} />
      <span class="connector-name">{name}</span>
      <span class="muted small">{pluralize(connectors.length, "connector")}</span>
    </Link>
  </li>
);

/** One page of connectors that are all loaded already. */
export function PagedCards(props: { connectors: readonly Connector[]; page: number; getHref: HrefOf }) {
  const { connectors, page, getHref } = props;
  const rows = connectors.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE);
  return (
    <>
      {rows.length > 0 ? (
        <ConnectorCards label="Connectors" connectors={rows} />
      ) : (
        <NoSuchPage firstHref={getHref({ page: undefined })} />
      )}
      <NumberedPager page={page} pages={Math.ceil(connectors.length / PAGE_SIZE)} getHref={getHref} />
    </>
  );
}
