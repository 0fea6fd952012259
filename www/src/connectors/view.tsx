import { keepPreviousData, useQuery } from "@tanstack/preact-query";
import type { Connector, ConnectorFilters } from "connector-vault/slim";
import { Link } from "wouter-preact";
import { useAddress, whole } from "../parts/address";
import { Answer } from "../parts/answer";
import { StatusBadge } from "../parts/badge";
import { Empty } from "../parts/empty";
import { Logo } from "../parts/logo";
import { Page } from "../parts/page";
import { NumberedPager } from "../parts/pager";
import { SearchField } from "../parts/search";
import { Select } from "../parts/select";
import { Snippet, literal, pathOf } from "../parts/snippet";
import { CATALOG_FRESH_MS, useSession } from "../session/session";
import { FoundActions } from "./found-actions";
import { usePlatforms } from "./platforms";
import "./connectors.css";

const ROWS = 48;
const NAMES = ["q", "category", "authkit", "page"] as const;

/** The catalog: all connectors, or those that are searched for. */
export function ConnectorsView() {
  const { vault } = useSession();
  const { values, hrefOf, change } = useAddress(NAMES);
  const asked: ConnectorFilters = {
    ...(values.q && { q: values.q }),
    ...(values.category && { category: values.category }),
    ...(values.authkit === "true" && { authkit: true }),
  };
  const filters = { ...asked, limit: ROWS, page: whole(values.page) ?? 1 };
  const query = useQuery({
    queryKey: ["connectors", filters],
    queryFn: ({ signal }) => vault.connectors.list(filters, { signal }),
    placeholderData: keepPreviousData,
    staleTime: CATALOG_FRESH_MS,
  });
  const categories = usePlatforms(query.isSuccess)?.categories ?? [];
  const page = query.data;
  const words = (n: number) => `${n.toLocaleString("en")} ${n === 1 ? "connector" : "connectors"}`;
  return (
    <Page title="Connectors" count={page && !query.isPlaceholderData && words(page.total)}>
      <div class="filters" role="search">
        <div class="wide">
          <SearchField
            label="Search"
            placeholder="A platform, or what to do: create github issue"
            value={values.q ?? ""}
            onChange={(q) => change({ q, page: undefined }, { replace: true })}
          />
        </div>
        <Select
          label="Category"
          value={values.category ?? ""}
          options={[["", "All categories"], ...categories.map(([name, n]) => [name, `${name} (${n})`] as const)]}
          onChange={(category) => change({ category, page: undefined })}
        />
        <label class="check">
          <input
            type="checkbox"
            checked={values.authkit === "true"}
            onChange={(event) => change({ authkit: event.currentTarget.checked ? "true" : undefined, page: undefined })}
          />
          Hosted authorization only
        </label>
      </div>
      {values.q && filters.page === 1 && Object.keys(asked).length === 1 && <FoundActions q={values.q} />}
      <Answer query={query} what="connectors" rows={8}>
        {({ rows, total, pages, page }) => (
          <>
            {rows.length === 0 ? (
              <Nothing
                total={total}
                isFiltered={Object.keys(asked).length > 0}
                href={total > 0 ? hrefOf({ page: undefined }) : "/connectors"}
              />
            ) : (
              <ul class="connectors" aria-label="Connectors">
                {rows.map((connector) => (
                  <Card key={connector.key} connector={connector} />
                ))}
              </ul>
            )}
            <NumberedPager page={page} pages={pages} hrefOf={hrefOf} />
          </>
        )}
      </Answer>
      <Snippet
        call={{
          method: "GET",
          path: pathOf("/v1/available-connectors", filters),
          javascript: `const { rows, total } = await vault.connectors.list(${literal(filters)});`,
        }}
      />
    </Page>
  );
}

function Nothing({ total, isFiltered, href }: { total: number; isFiltered: boolean; href: string }) {
  if (total > 0)
    return (
      <Empty title="There is no such page">
        <Link href={href}>Go to the first page</Link>
      </Empty>
    );
  if (isFiltered)
    return (
      <Empty title="No connector matches">
        <Link href={href}>Show all connectors</Link>
      </Empty>
    );
  return (
    <Empty title="The catalog is empty">
      Publish a catalog: <code>npm run catalog -- publish</code>
    </Empty>
  );
}

function Card({ connector }: { connector: Connector }) {
  const { name, platform, image, category, description, oauth, status, active, tools } = connector;
  return (
    <li>
      <Link class="card connector" href={`/connectors/${platform}`}>
        <Logo name={name} image={image} />
        <span class="connector-name">{name}</span>
        <span class="connector-platform mono muted">{platform}</span>
        <span class="connector-description muted small">{description}</span>
        <span class="chips">
          <span class="badge">{category}</span>
          {oauth && (
            <span class="badge" data-tone="calm">
              OAuth
            </span>
          )}
          {status !== "generally_available" && <StatusBadge status={status} />}
          {!active && (
            <span class="badge" data-tone="bad">
              Inactive
            </span>
          )}
          <span class="badge">
            {tools.toLocaleString("en")} {tools === 1 ? "action" : "actions"}
          </span>
        </span>
      </Link>
    </li>
  );
}
