import { keepPreviousData, useQuery } from "@tanstack/preact-query";
import type { ConnectorFilters } from "connector-vault/slim";
import { Link } from "wouter-preact";
import { useAddress, whole } from "../parts/address";
import { Answer } from "../parts/answer";
import { Empty } from "../parts/empty";
import { Page } from "../parts/page";
import { NumberedPager } from "../parts/pager";
import { SearchField } from "../parts/search";
import { Select } from "../parts/select";
import { Snippet, literal, pathOf } from "../parts/snippet";
import { CATALOG_FRESH_MS, useSession } from "../session/session";
import { Cards, ROWS, counted } from "./cards";
import { FamilyView } from "./family";
import { FoundActions } from "./found-actions";
import { Known } from "./known";
import { usePlatformsQuery } from "./platforms";

const NAMES = ["q", "category", "authkit", "family", "page"] as const;

/** The catalog: what one knows of it, those of a family, or those that are searched for. */
export function ConnectorsView() {
  const { values } = useAddress(NAMES);
  return values.family ? <FamilyView key={values.family} id={values.family} /> : <Catalog />;
}

function Catalog() {
  const { vault } = useSession();
  const { values, hrefOf, change } = useAddress(NAMES);
  const asked: ConnectorFilters = {
    ...(values.q && { q: values.q }),
    ...(values.category && { category: values.category }),
    ...(values.authkit === "true" && { authkit: true }),
  };
  const isFiltered = Object.keys(asked).length > 0;
  const filters = { ...asked, limit: ROWS, page: whole(values.page) ?? 1 };
  const query = useQuery({
    queryKey: ["connectors", filters],
    queryFn: ({ signal }) => vault.connectors.list(filters, { signal }),
    placeholderData: keepPreviousData,
    staleTime: CATALOG_FRESH_MS,
    enabled: isFiltered,
  });
  const known = usePlatformsQuery(!isFiltered || query.isSuccess);
  const categories = known.data?.categories ?? [];
  const total = isFiltered ? (query.isPlaceholderData ? undefined : query.data?.total) : known.data?.byName.size;
  return (
    <Page title="Connectors" count={total !== undefined && counted(total, "connector")}>
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
      {isFiltered ? (
        <Answer query={query} what="connectors" rows={8}>
          {({ rows, total, pages, page }) => (
            <>
              {rows.length === 0 ? (
                <Nothing isPast={total > 0} href={total > 0 ? hrefOf({ page: undefined }) : "/connectors"} />
              ) : (
                <Cards label="Connectors" connectors={rows} />
              )}
              <NumberedPager page={page} pages={pages} hrefOf={hrefOf} />
            </>
          )}
        </Answer>
      ) : (
        <Answer query={known} what="connectors" rows={8}>
          {(platforms) => <Known platforms={platforms} page={filters.page} hrefOf={hrefOf} />}
        </Answer>
      )}
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

/** `isPast`: there are connectors, but not that many pages of them. */
const Nothing = ({ isPast, href }: { isPast: boolean; href: string }) =>
  isPast ? (
    <Empty title="There is no such page">
      <Link href={href}>Go to the first page</Link>
    </Empty>
  ) : (
    <Empty title="No connector matches">
      <Link href={href}>Show all connectors</Link>
    </Empty>
  );
