import type { ConnectionFilters } from "connector-vault/slim";
import { useEffect, useRef, useState } from "preact/hooks";
import { Link, useLocation, useSearch } from "wouter-preact";
import { EmptyState } from "../components/empty-state";
import { getFaults } from "../components/faults";
import { NoSuchPage } from "../components/no-such-page";
import { Notice } from "../components/notice";
import { Page, findPageHeading } from "../components/page";
import { Pager } from "../components/pager";
import { pluralize } from "../components/pluralize";
import { QueryView } from "../components/query-view";
import { Snippet, toLiteral, pathWithQuery } from "../components/snippet";
import { useUrlState, withQuery } from "../components/url-state";
import { usePlatforms } from "../connectors/platforms";
import { useSession } from "../session/session";
import { ConnectAnyAccount } from "./connect-any-account";
import { CreateDialog } from "./create-dialog";
import { hasDraft } from "./drafts";
import { FilterBar } from "./filter-bar";
import {
  BASIC_FILTERS,
  EXTRA_FILTERS,
  PARAMETERS,
  PAGE_SIZE,
  parseFilters,
  toPositionParameters,
  includesInactive,
  parsePosition,
  type PagePosition,
} from "./filters";
import { Panel } from "./panel";
import { OPENED_FROM_LIST, Table } from "./table";
import { isInvalidCursor, isPageTooFar, adjacentPositions, useConnections } from "./use-connections";
import "./connections.css";

const FILTERS = [...BASIC_FILTERS, ...EXTRA_FILTERS];
const PATH = "/connections";
const ID_PATTERN = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;
const FIRST_PAGE: PagePosition = { after: undefined, page: undefined };
const getConnectionPath = (id: string | undefined) => (id === undefined ? PATH : `${PATH}/${encodeURIComponent(id)}`);

/** The list of connections, with the connection `selectedId` in a panel. */
export function ConnectionsView({ selectedId }: { selectedId: string | undefined }) {
  const { vault, may, noun } = useSession();
  const { values, getHref, change } = useUrlState(PARAMETERS);
  const search = useSearch();
  /** Returns the URL of the list, or of the list with a connection in the panel. */
  const hrefWithPanel = (id: string | undefined, changes: Record<string, string | undefined> = {}) =>
    withQuery(getConnectionPath(id), search, changes);
  const [, navigate] = useLocation();
  const [notice, setNotice] = useState<string>();
  const [created, setCreated] = useState<string>();
  const [isConnecting, setConnecting] = useState(false);
  const filters = parseFilters(values);
  const position = parsePosition(values);
  const faults = vault.connections.validateList(filters);
  const withInactive = includesInactive(values);
  const query = useConnections(filters, position, faults.length === 0, withInactive);
  const platforms = usePlatforms(query.isSuccess || query.isError);
  const panel = usePanel(selectedId, hrefWithPanel);
  const wasRemoved = useRef(false);
  useEffect(() => {
    // A notice about the previous action is out of date when a panel opens.
    if (panel.id !== undefined) return setNotice(undefined);
    setCreated(undefined);
    // The row that had the focus no longer exists.
    if (wasRemoved.current) findPageHeading()?.focus();
    wasRemoved.current = false;
  }, [panel.id]);
  const hasFilters = FILTERS.some((name) => values[name] !== undefined);
  const request = {
    ...filters,
    limit: PAGE_SIZE,
    ...(position.after === undefined ? { page: position.page } : { after: position.after }),
  };
  const getPageHref = (target: PagePosition) => hrefWithPanel(undefined, toPositionParameters(target));

  return (
    <Page
      title="Connections"
      count={query.data && !query.isPlaceholderData && !query.isError && pluralize(query.data.total, "connection")}
      actions={
        <>
          <AddButton href={getHref({ new: "1" })} />
          {may("connections:connect") && (
            <button type="button" class="primary" onClick={() => setConnecting(true)}>
              Connect an account
            </button>
          )}
        </>
      }
    >
      <Notice>{notice}</Notice>
      {!may("connections:write") && (
        <p class="muted" id="read-only">
          Your {noun} can read connections, but not change them.
        </p>
      )}
      <FilterBar
        values={values}
        faults={[...faults, ...getFaults(query.error)]}
        platforms={platforms}
        clearHref={hasFilters ? PATH : undefined}
        onChange={(changes, options) => change({ ...changes, ...toPositionParameters(FIRST_PAGE) }, options)}
      />
      {values.state !== undefined && values.active === undefined && faults.length === 0 && query.data?.total !== 0 && (
        <InactiveMatches filters={filters} />
      )}
      {faults.length > 0 && (
        <p class="note" data-tone="warn">
          A filter is not valid.{" "}
          {query.data ? "The list still shows the previous results." : "Correct it to see connections."}
        </p>
      )}
      {isInvalidCursor(query.error) && !query.isPlaceholderData ? (
        <EmptyState title="This page is no longer available">
          <p>Its link belongs to another list or another key, or was changed.</p>
          <Link href={getPageHref(FIRST_PAGE)}>Go to the first page</Link>
        </EmptyState>
      ) : isPageTooFar(query.error) && !query.isPlaceholderData ? (
        <EmptyState title="This page is too far from the start">
          <p>It can't be opened by its number. Narrow the list with a filter, or start from an earlier page.</p>
          <Link href={getPageHref(FIRST_PAGE)}>Go to the first page</Link>
        </EmptyState>
      ) : (
        (faults.length === 0 || query.data) && (
          <QueryView query={query} name="connections" rows={10}>
            {(found) => {
              const { previous, next } = adjacentPositions(found, position);
              return (
                <>
                  {found.rows.length > 0 ? (
                    <Table rows={found.rows} platforms={platforms} getHref={({ id }) => hrefWithPanel(id)} />
                  ) : (
                    <NoRows
                      total={found.total}
                      filters={filters}
                      activeOnly={values.active === undefined}
                      hasFilters={hasFilters}
                      firstHref={getPageHref(FIRST_PAGE)}
                    />
                  )}
                  <Pager
                    page={found.page}
                    pages={found.pages}
                    previous={previous && getPageHref(previous)}
                    next={next && getPageHref(next)}
                  />
                </>
              );
            }}
          </QueryView>
        )
      )}
      <Snippet
        call={{
          method: "GET",
          path: pathWithQuery("/v1/vault/connections", request),
          javascript: `const { rows, total } = await vault.connections.list(${toLiteral(request)});`,
        }}
      />
      {panel.id !== undefined && (
        <Panel
          key={panel.id}
          id={panel.id}
          platforms={platforms}
          isNew={panel.id === created}
          isLeaving={panel.isLeaving}
          onClose={panel.close}
          onStay={panel.stay}
          onLeave={panel.leave}
          onRemoved={(message) => {
            wasRemoved.current = true;
            setNotice(message);
          }}
          fallbackFocus={findPageHeading}
        />
      )}
      {isConnecting && <ConnectAnyAccount platforms={platforms} onClose={() => setConnecting(false)} />}
      {values.new !== undefined && panel.id === undefined && may("connections:write") && (
        <CreateDialog
          platforms={platforms}
          onClose={() => (history.state?.openedHere ? history.back() : change({ new: undefined }, { replace: true }))}
          onCreated={({ id }) => {
            setCreated(id);
            navigate(hrefWithPanel(id, { new: undefined }), { replace: true, state: history.state });
          }}
          getHref={getConnectionPath}
        />
      )}
    </Page>
  );
}

/** The id of the connection in the panel. Follows the URL, but keeps a connection with unsaved changes. */
function usePanel(selectedId: string | undefined, getAddress: (id: string | undefined) => string) {
  const [, navigate] = useLocation();
  const [, setTick] = useState(0);
  const shownId = useRef(selectedId);
  const isLeaving = shownId.current !== selectedId && hasDraft(shownId.current);
  if (!isLeaving) shownId.current = selectedId;
  const id = shownId.current;
  return {
    id,
    isLeaving,
    close: () => (history.state?.openedHere ? history.back() : navigate(getAddress(undefined), { replace: true })),
    stay: () => navigate(getAddress(id), { state: OPENED_FROM_LIST }),
    /** Call it after dropping the draft, to leave the connection. */
    leave: () => setTick((tick) => tick + 1),
  };
}

const inactiveHref = () => withQuery(PATH, location.search, { active: "false", page: undefined, after: undefined });

/**
 * A link to the inactive connections that match. Most failed connections are inactive, but the list contains only active
 * ones by default.
 */
function InactiveMatches({ filters }: { filters: ConnectionFilters }) {
  const { data, isPlaceholderData } = useConnections({ ...filters, active: false }, FIRST_PAGE, true);
  if (!data || isPlaceholderData || data.total === 0) return null;
  return (
    <p class="muted">
      Only active connections are listed.{" "}
      <Link href={inactiveHref()}>
        {pluralize(data.total, "inactive connection")} {data.total === 1 ? "matches" : "match"}
      </Link>
    </p>
  );
}

/** A button that opens the form for a connection record without credentials. */
function AddButton({ href }: { href: string }) {
  const { may } = useSession();
  const [, navigate] = useLocation();
  if (may("connections:write"))
    return (
      <button type="button" onClick={() => navigate(href, { state: OPENED_FROM_LIST })}>
        Add a record
      </button>
    );
  return (
    <button type="button" aria-disabled="true" aria-describedby="read-only">
      Add a record
    </button>
  );
}

interface NoRowsProps {
  total: number;
  filters: ConnectionFilters;
  activeOnly: boolean;
  hasFilters: boolean;
  firstHref: string;
}

function NoRows({ total, filters, activeOnly, hasFilters, firstHref }: NoRowsProps) {
  if (total > 0) return <NoSuchPage firstHref={firstHref} />;
  const attempts = <Link href="/integrations#attempts-title">Failed attempts to connect</Link>;
  if (!hasFilters)
    return (
      <EmptyState title="No connections yet">
        <p>New connections appear here.</p>
        {attempts}
      </EmptyState>
    );
  return (
    <EmptyState title="No connections match">
      {activeOnly && <InactiveMatches filters={filters} />}
      {filters.q !== undefined && (
        <p>
          {ID_PATTERN.test(filters.q.trim()) ? (
            <Link href={getConnectionPath(filters.q.trim())}>Open the connection with this ID</Link>
          ) : (
            "To find an account at a platform, enter its ID in the filter Account."
          )}
        </p>
      )}
      <Link href={PATH}>Clear filters</Link> · {attempts}
    </EmptyState>
  );
}
