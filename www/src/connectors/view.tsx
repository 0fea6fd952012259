import { keepPreviousData, useQuery } from "@tanstack/preact-query";
import type { ConnectorFilters } from "connector-vault/slim";
import { Link } from "wouter-preact";
import { EmptyState } from "../components/empty-state";
import { NoSuchPage } from "../components/no-such-page";
import { Page } from "../components/page";
import { NumberedPager } from "../components/pager";
import { pluralize } from "../components/pluralize";
import { QueryView } from "../components/query-view";
import { SearchField } from "../components/search-field";
import { Select } from "../components/select";
import { Snippet, toLiteral, pathWithQuery } from "../components/snippet";
import { useUrlState, positiveInteger } from "../components/url-state";
import { CATALOG_FRESH_MS, useSession } from "../session/session";
import { ActionResults } from "./action-results";
import { ConnectorCards, PAGE_SIZE } from "./cards";
import { CatalogOverview } from "./catalog-overview";
import { FamilyView } from "./family-view";
import { usePlatformsQuery } from "./platforms";

const PARAMETERS = ["q", "category", "authkit", "family", "page"] as const;

export function ConnectorsView() {
  const { values } = useUrlState(PARAMETERS);
  return values.family ? <FamilyView key={values.family} id={values.family} /> : <Catalog />;
}

function Catalog() {
  const { vault } = useSession();
  const { values, getHref, change } = useUrlState(PARAMETERS);
  const filters: ConnectorFilters = {
    ...(values.q && { q: values.q }),
    ...(values.category && { category: values.category }),
    ...(values.authkit === "true" && { authkit: true }),
  };
  const isFiltered = Object.keys(filters).length > 0;
  const request = { ...filters, limit: PAGE_SIZE, page: positiveInteger(values.page) ?? 1 };
  const query = useQuery({
    queryKey: ["connectors", request],
    queryFn: ({ signal }) => vault.connectors.list(request, { signal }),
    placeholderData: keepPreviousData,
    staleTime: CATALOG_FRESH_MS,
    enabled: isFiltered,
  });
  const allPlatforms = usePlatformsQuery(!isFiltered || query.isSuccess);
  const categories = allPlatforms.data?.categories ?? [];
  const total = isFiltered ? (query.isPlaceholderData ? undefined : query.data?.total) : allPlatforms.data?.byName.size;
  return (
    <Page title="Connectors" count={total !== undefined && pluralize(total, "connector")}>
      <div class="filters" role="search">
        <div class="wide">
          <SearchField
            label="Search"
            placeholder="Platform or action, such as create github issue"
            value={values.q ?? ""}
            onChange={(q) => change({ q, page: undefined }, { replace: true })}
          />
        </div>
        <Select
          label="Category"
          value={values.category ?? ""}
          options={[
            ["", "All categories"],
            ...categories.map(([name, count]) => [name, `${name} (${count})`] as const),
          ]}
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
      {values.q && request.page === 1 && Object.keys(filters).length === 1 && <ActionResults q={values.q} />}
      {isFiltered ? (
        <QueryView query={query} name="connectors" rows={8}>
          {({ rows, total, pages, page }) => (
            <>
              {rows.length === 0 ? (
                <NoRows isPast={total > 0} href={total > 0 ? getHref({ page: undefined }) : "/connectors"} />
              ) : (
                <ConnectorCards label="Connectors" connectors={rows} />
              )}
              <NumberedPager page={page} pages={pages} getHref={getHref} />
            </>
          )}
        </QueryView>
      ) : (
        <QueryView query={allPlatforms} name="connectors" rows={8}>
          {(platforms) => <CatalogOverview platforms={platforms} page={request.page} getHref={getHref} />}
        </QueryView>
      )}
      <Snippet
        call={{
          method: "GET",
          path: pathWithQuery("/v1/available-connectors", request),
          javascript: `const { rows, total } = await vault.connectors.list(${toLiteral(request)});`,
        }}
      />
    </Page>
  );
}

/** The message for an empty list. With `isPast`, the page number is too high. */
const NoRows = ({ isPast, href }: { isPast: boolean; href: string }) =>
  isPast ? (
    <NoSuchPage firstHref={href} />
  ) : (
    <EmptyState title="No connectors match">
      <Link href={href}>Show all connectors</Link>
    </EmptyState>
  );
