import type { ConnectionFilters } from "connector-vault/slim";
import { useEffect, useRef, useState } from "preact/hooks";
import { Link, useLocation, useSearch } from "wouter-preact";
import { usePlatforms } from "../connectors/platforms";
import { useAddress, withValues } from "../parts/address";
import { Answer } from "../parts/answer";
import { Empty } from "../parts/empty";
import { faultsOf } from "../parts/faults";
import { Notice } from "../parts/notice";
import { Page } from "../parts/page";
import { Pager } from "../parts/pager";
import { Snippet, literal, pathOf as requestOf } from "../parts/snippet";
import { useSession } from "../session/session";
import { FEW, MORE, NAMES, ROWS, filtersOf, inAddress, isOfAll, placeOf, type Asked, type Place } from "./asked";
import { ConnectAny } from "./connect-any";
import { Create } from "./create";
import { hasDraft } from "./drafts";
import { Filters } from "./filters";
import { isLost, isTooFar, neighbours, useRows } from "./list";
import { Panel } from "./panel";
import { OPENED, Table } from "./table";
import "./connections.css";

const FILTERS = [...FEW, ...MORE];
const PATH = "/connections";
const FIRST: Place = { after: undefined, page: undefined };
const pathOf = (id: string | undefined) => (id === undefined ? PATH : `${PATH}/${encodeURIComponent(id)}`);

const words = (n: number) => `${n.toLocaleString("en")} ${n === 1 ? "connection" : "connections"}`;
const heading = () => document.querySelector<HTMLElement>("h1");

/** The vault: all connections, or those that are searched for, and the one with the id `opened` in a panel. */
export function ConnectionsView({ opened }: { opened: string | undefined }) {
  const { vault, may } = useSession();
  const { values, hrefOf, change } = useAddress(NAMES);
  const search = useSearch();
  /** The address of the list, or with an id of a connection beside it. */
  const addressOf = (id: string | undefined, changes: Record<string, string | undefined> = {}) =>
    withValues(pathOf(id), search, changes);
  const [, navigate] = useLocation();
  const [notice, setNotice] = useState<string>();
  const [created, setCreated] = useState<string>();
  const [isConnecting, setConnecting] = useState(false);
  const filters = filtersOf(values);
  const place = placeOf(values);
  const faults = vault.connections.validateList(filters);
  const ofAll = isOfAll(values);
  const query = useRows(filters, place, faults.length === 0, ofAll);
  const platforms = usePlatforms(query.isSuccess || query.isError);
  const panel = usePanel(opened, addressOf);
  const isRemoved = useRef(false);
  useEffect(() => {
    // What was said is about what was done before.
    if (panel.id !== undefined) return setNotice(undefined);
    setCreated(undefined);
    // The line that had the focus goes.
    if (isRemoved.current) heading()?.focus();
    isRemoved.current = false;
  }, [panel.id]);
  const isAsked = FILTERS.some((name) => values[name] !== undefined);
  const asked = {
    ...filters,
    limit: ROWS,
    ...(place.after === undefined ? { page: place.page } : { after: place.after }),
  };
  const to = (where: Place) => addressOf(undefined, inAddress(where));

  return (
    <Page
      title="Connections"
      count={query.data && !query.isPlaceholderData && !query.isError && words(query.data.total)}
      actions={
        <>
          <AddButton href={hrefOf({ new: "1" })} />
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
          Your key can read connections, but not change them.
        </p>
      )}
      <Filters
        values={values}
        faults={[...faults, ...faultsOf(query.error)]}
        platforms={platforms}
        clear={isAsked ? PATH : undefined}
        onChange={(changes, options) => change({ ...changes, ...inAddress(FIRST) }, options)}
      />
      {values.state !== undefined && values.active === undefined && faults.length === 0 && (
        <InactiveToo filters={filters} />
      )}
      {faults.length > 0 && (
        <p class="note" data-tone="warn">
          A filter is not valid.{" "}
          {query.data ? "The list still shows the previous results." : "Correct it to see connections."}
        </p>
      )}
      {isLost(query.error) && !query.isPlaceholderData ? (
        <Empty title="This page is no longer available">
          <p>Its link belongs to another list or another key, or was changed.</p>
          <Link href={to(FIRST)}>Go to the first page</Link>
        </Empty>
      ) : isTooFar(query.error) && !query.isPlaceholderData ? (
        <Empty title="This page is too far from the first one">
          <p>It can't be opened by its number. Narrow the list with a filter, or start from an earlier page.</p>
          <Link href={to(FIRST)}>Go to the first page</Link>
        </Empty>
      ) : (
        (faults.length === 0 || query.data) && (
          <Answer query={query} what="connections" rows={10}>
            {(found) => {
              const { previous, next } = neighbours(found, place);
              return (
                <>
                  {found.rows.length > 0 ? (
                    <Table rows={found.rows} platforms={platforms} hrefOf={({ id }) => addressOf(id)} />
                  ) : (
                    <Nothing total={found.total} values={values} isAsked={isAsked} first={to(FIRST)} />
                  )}
                  <Pager
                    page={found.page}
                    pages={found.pages}
                    previous={previous && to(previous)}
                    next={next && to(next)}
                  />
                </>
              );
            }}
          </Answer>
        )
      )}
      <Snippet
        call={{
          method: "GET",
          path: requestOf("/v1/vault/connections", asked),
          javascript: `const { rows, total } = await vault.connections.list(${literal(asked)});`,
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
          onRemoved={(what) => {
            isRemoved.current = true;
            setNotice(what);
          }}
          focusAfter={heading}
        />
      )}
      {isConnecting && <ConnectAny platforms={platforms} onClose={() => setConnecting(false)} />}
      {values.new !== undefined && panel.id === undefined && may("connections:write") && (
        <Create
          platforms={platforms}
          onClose={() => (history.state?.openedHere ? history.back() : change({ new: undefined }, { replace: true }))}
          onCreated={({ id }) => {
            setCreated(id);
            navigate(addressOf(id, { new: undefined }), { replace: true, state: history.state });
          }}
          hrefOf={pathOf}
        />
      )}
    </Page>
  );
}

/** Which connection is in the panel: that of the address, but what is not saved there holds one back until it is given up. */
function usePanel(wanted: string | undefined, addressOf: (id: string | undefined) => string) {
  const [, navigate] = useLocation();
  const [, draw] = useState(0);
  const shown = useRef(wanted);
  const isLeaving = shown.current !== wanted && hasDraft(shown.current);
  if (!isLeaving) shown.current = wanted;
  const id = shown.current;
  return {
    id,
    isLeaving,
    close: () => (history.state?.openedHere ? history.back() : navigate(addressOf(undefined), { replace: true })),
    stay: () => navigate(addressOf(id), { state: OPENED }),
    /** To be called once there is no draft any more. */
    leave: () => draw((times) => times + 1),
  };
}

const inactive = () => withValues(PATH, location.search, { active: "false", page: undefined, after: undefined });

/** Most of what has failed is inactive, and a list has either the active or the inactive ones: says how many others there are. */
function InactiveToo({ filters }: { filters: ConnectionFilters }) {
  const { data, isPlaceholderData } = useRows({ ...filters, active: false }, FIRST, true);
  if (!data || isPlaceholderData || data.total === 0) return null;
  return (
    <p class="muted">
      Only active connections are listed.{" "}
      <Link href={inactive()}>
        Show {data.total.toLocaleString("en")} inactive {data.total === 1 ? "connection" : "connections"} in this state
      </Link>
    </p>
  );
}

/** Adds what the vault is to know of, without credentials. */
function AddButton({ href }: { href: string }) {
  const { may } = useSession();
  const [, navigate] = useLocation();
  if (may("connections:write"))
    return (
      <button type="button" onClick={() => navigate(href, { state: OPENED })}>
        Add a record
      </button>
    );
  return (
    <button type="button" aria-disabled="true" aria-describedby="read-only">
      Add a record
    </button>
  );
}

interface NothingProps {
  total: number;
  values: Asked;
  isAsked: boolean;
  first: string;
}

function Nothing({ total, values, isAsked, first }: NothingProps) {
  if (total > 0)
    return (
      <Empty title="There is no such page">
        <Link href={first}>Go to the first page</Link>
      </Empty>
    );
  if (!isAsked) return <Empty title="No connections yet">New connections appear here.</Empty>;
  return (
    <Empty title="No connection matches">
      {values.active === undefined && (
        <p>
          Only active connections were searched. <Link href={inactive()}>Search inactive connections</Link>
        </p>
      )}
      <Link href={PATH}>Clear filters</Link>
    </Empty>
  );
}
