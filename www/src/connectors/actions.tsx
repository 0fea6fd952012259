import { keepPreviousData, useQuery } from "@tanstack/preact-query";
import type { Action, ActionFilters, ActionMethod } from "connector-vault/slim";
import { Link } from "wouter-preact";
import { MethodBadge } from "../components/badge";
import { CopyButton } from "../components/copy-button";
import { EmptyState } from "../components/empty-state";
import { NoSuchPage } from "../components/no-such-page";
import { NumberedPager } from "../components/pager";
import { pluralize } from "../components/pluralize";
import { QueryView } from "../components/query-view";
import { SearchField } from "../components/search-field";
import { Select } from "../components/select";
import { Snippet, toLiteral, pathWithQuery } from "../components/snippet";
import { useUrlState, positiveInteger } from "../components/url-state";
import { CATALOG_FRESH_MS, useSession } from "../session/session";

const PAGE_SIZE = 25;
const METHODS: readonly ActionMethod[] = ["GET", "POST", "PUT", "PATCH", "DELETE"];
const PARAMETERS = ["q", "method", "page"] as const;

export function Actions({ platform }: { platform: string }) {
  const { vault } = useSession();
  const { values, getHref, change } = useUrlState(PARAMETERS);
  // Also sends unknown values, because dropping the filter would show more rows.
  const method = values.method?.toUpperCase() as ActionMethod | undefined;
  const filters: ActionFilters = {
    ...(values.q && { q: values.q }),
    ...(method && { method }),
    limit: PAGE_SIZE,
    page: positiveInteger(values.page) ?? 1,
  };
  const query = useQuery({
    queryKey: ["actions", platform, filters],
    queryFn: ({ signal }) => vault.actions.list(platform, filters, { signal }),
    placeholderData: keepPreviousData,
    staleTime: CATALOG_FRESH_MS,
  });
  return (
    <section class="section actions-section" aria-labelledby="actions-title">
      <div class="title">
        <h2 id="actions-title">Actions</h2>
        <p class="muted" role="status">
          {query.data && !query.isPlaceholderData && pluralize(query.data.total, "action")}
        </p>
      </div>
      <div class="filters" role="search" aria-label="Actions">
        <div class="wide">
          <SearchField
            label="Search actions"
            placeholder="Title, key or model"
            value={values.q ?? ""}
            onChange={(q) => change({ q, page: undefined }, { replace: true })}
          />
        </div>
        <Select
          label="Method"
          value={method ?? ""}
          options={[["", "All methods"], ...METHODS.map((name) => [name, name] as const)]}
          onChange={(chosen) => change({ method: chosen, page: undefined })}
        />
      </div>
      <QueryView query={query} name="actions">
        {({ rows, total, page, pages }) => (
          <>
            {rows.length === 0 ? (
              <NoRows total={total} isFiltered={Boolean(values.q || method)} firstHref={getHref({ page: undefined })} />
            ) : (
              <ul class="action-list" aria-label="Actions">
                {rows.map((action) => (
                  <Row key={action.key} action={action} />
                ))}
              </ul>
            )}
            <NumberedPager page={page} pages={pages} getHref={getHref} />
          </>
        )}
      </QueryView>
      <Snippet
        call={{
          method: "GET",
          path: pathWithQuery(`/v1/available-actions/${platform}`, filters),
          javascript: `const { rows, total } = await vault.actions.list(${JSON.stringify(platform)}, ${toLiteral(filters)});`,
        }}
      />
    </section>
  );
}

function NoRows({ total, isFiltered, firstHref }: { total: number; isFiltered: boolean; firstHref: string }) {
  if (total > 0) return <NoSuchPage firstHref={firstHref} />;
  if (isFiltered) return <EmptyState title="No actions match" />;
  return (
    <EmptyState title="The catalog has no actions of this platform">
      You can call its API through the proxy of a connection. To add actions, import a document of the platform.
    </EmptyState>
  );
}

function Row({ action }: { action: Action }) {
  const { title, key, method, modelName, platform } = action;
  return (
    <li class="action">
      <MethodBadge method={method} />
      <Link class="action-title" href={`/connectors/${platform}/actions/${encodeURIComponent(key)}`}>
        {title}
      </Link>
      <span class="action-key">
        <code class="muted">{key}</code> <CopyButton text={key} label={`Copy the key ${key}`} />
      </span>
      {modelName && <span class="badge">{modelName}</span>}
    </li>
  );
}
