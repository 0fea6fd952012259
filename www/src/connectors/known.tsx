import { useQuery } from "@tanstack/preact-query";
import type { Connector } from "connector-vault/slim";
import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { Link } from "wouter-preact";
import { Empty } from "../parts/empty";
import { Loading } from "../parts/loading";
import { Logo } from "../parts/logo";
import { NumberedPager } from "../parts/pager";
import { CATALOG_FRESH_MS, useSession } from "../session/session";
import { Cards, ROWS, counted } from "./cards";
import type { Family } from "./families";
import type { Platforms } from "./platforms";

/** As many connected and enabled platforms are shown; the overview and the filter have the others. */
const FIRST = 12;

type HrefOf = (values: { page: string | undefined }) => string;

/**
 * The whole catalog, what one knows first: the platforms that are connected, those that are enabled, the families. The
 * others follow, page by page.
 */
export function Known({ platforms, page, hrefOf }: { platforms: Platforms; page: number; hrefOf: HrefOf }) {
  const { vault, may } = useSession();
  const summary = useQuery({
    queryKey: ["summary"],
    queryFn: ({ signal }) => vault.connections.summary({ signal }),
    enabled: may("connections:read"),
  });
  const enabled = useQuery({
    queryKey: ["connectors", "enabled"],
    queryFn: ({ signal }) => vault.connectors.list({ authkit: true, limit: ROWS }, { signal }),
    staleTime: CATALOG_FRESH_MS,
  });
  const { byName, families, others } = platforms;
  if (byName.size === 0)
    return (
      <Empty title="The catalog is empty">
        Publish a catalog: <code>npm run catalog -- publish</code>
      </Empty>
    );
  // Without them the page is of use too; but nothing may move once it is there.
  if (summary.isLoading || enabled.isLoading) return <Loading what="connectors" rows={8} />;
  const used = summary.data?.platforms ?? [];
  const connected = used.flatMap(({ platform }) => byName.get(platform) ?? []).slice(0, FIRST);
  const offered = without(enabled.data?.rows ?? [], connected).slice(0, FIRST);
  const counts = new Map(used.map(({ platform, total }) => [platform, counted(total, "connection")]));
  const rest = without(others, [...connected, ...offered]);
  const hasFirst = page === 1 && connected.length + offered.length + families.length > 0;
  return (
    <div class="known">
      {hasFirst && (
        <>
          {connected.length > 0 && (
            <Part title="Connected" more={<Link href="/">All platforms with connections</Link>}>
              {(label) => <Cards label={label} connectors={connected} facts={counts} />}
            </Part>
          )}
          {offered.length > 0 && (
            <Part
              title="Enabled for hosted authorization"
              more={<Link href="/connectors?authkit=true">All enabled connectors</Link>}
            >
              {(label) => <Cards label={label} connectors={offered} />}
            </Part>
          )}
          {families.length > 0 && (
            <Part title="Families">
              {(label) => (
                <ul class="families" aria-label={label}>
                  {families.map((family) => (
                    <FamilyCard key={family.id} family={family} />
                  ))}
                </ul>
              )}
            </Part>
          )}
        </>
      )}
      {(rest.length > 0 || page > 1) && (
        <Part title={hasFirst || page > 1 ? "More connectors" : "All connectors"}>
          {() => <CardPages connectors={rest} page={page} hrefOf={hrefOf} />}
        </Part>
      )}
    </div>
  );
}

function without(connectors: readonly Connector[], shown: readonly Connector[]) {
  const keys = new Set(shown.map(({ key }) => key));
  return connectors.filter(({ key }) => !keys.has(key));
}

interface PartProps {
  title: string;
  /** Where the rest of it is. */
  more?: ComponentChildren;
  /** Draws what is called so. */
  children: (label: string) => ComponentChildren;
}

function Part({ title, more, children }: PartProps) {
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
      <span class="muted small">{counted(connectors.length, "connector")}</span>
    </Link>
  </li>
);

/** One page of connectors that are all there already. */
export function CardPages(props: { connectors: readonly Connector[]; page: number; hrefOf: HrefOf }) {
  const { connectors, page, hrefOf } = props;
  const rows = connectors.slice((page - 1) * ROWS, page * ROWS);
  return (
    <>
      {rows.length > 0 ? (
        <Cards label="Connectors" connectors={rows} />
      ) : (
        <Empty title="There is no such page">
          <Link href={hrefOf({ page: undefined })}>Go to the first page</Link>
        </Empty>
      )}
      <NumberedPager page={page} pages={Math.ceil(connectors.length / ROWS)} hrefOf={hrefOf} />
    </>
  );
}
