import { Link } from "wouter-preact";
import { EmptyState } from "../components/empty-state";
import { Page } from "../components/page";
import { pluralize } from "../components/pluralize";
import { QueryView } from "../components/query-view";
import { SearchField } from "../components/search-field";
import { useUrlState, positiveInteger } from "../components/url-state";
import { PagedCards } from "./catalog-overview";
import { createSearch } from "./platform-search";
import { usePlatformsQuery } from "./platforms";

const PARAMETERS = ["q", "page"] as const;

export function FamilyView({ id }: { id: string }) {
  const query = usePlatformsQuery();
  const { values, getHref, change } = useUrlState(PARAMETERS);
  const family = query.data?.families.find((candidate) => candidate.id === id);
  const matches = family && (values.q ? createSearch(family.connectors)(values.q) : family.connectors);
  const name = family?.name ?? id;
  return (
    <Page
      title={name}
      breadcrumb={<Link href="/connectors">Connectors</Link>}
      count={matches && pluralize(matches.length, "connector")}
    >
      <div class="filters" role="search">
        <div class="wide">
          <SearchField
            label={`Search ${name}`}
            value={values.q ?? ""}
            onChange={(q) => change({ q, page: undefined }, { replace: true })}
          />
        </div>
      </div>
      <QueryView query={query} name="connectors" rows={8}>
        {() =>
          matches && matches.length > 0 ? (
            <PagedCards connectors={matches} page={positiveInteger(values.page) ?? 1} getHref={getHref} />
          ) : (
            <EmptyState title={matches ? "No connectors match" : "The catalog has no such connector family"}>
              {matches ? (
                <Link href={getHref({ q: undefined })}>Show all of them</Link>
              ) : (
                <Link href="/connectors">Show all connectors</Link>
              )}
            </EmptyState>
          )
        }
      </QueryView>
    </Page>
  );
}
