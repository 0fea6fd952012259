import { useInfiniteQuery } from "@tanstack/preact-query";
import type { AuditAction, AuditEntry, AuditFilters } from "connector-vault/slim";
import { Link } from "wouter-preact";
import { useAddress } from "../parts/address";
import { Answer } from "../parts/answer";
import { Empty } from "../parts/empty";
import { faultAt } from "../parts/faults";
import { Field } from "../parts/field";
import { Page } from "../parts/page";
import { SearchField } from "../parts/search";
import { Select } from "../parts/select";
import { Snippet, literal, pathOf } from "../parts/snippet";
import { When, exact } from "../parts/when";
import { useSession } from "../session/session";
import { AUDIT_ACTIONS, actionWords, actorWords, addressOf } from "./words";
import "../events/events.css";

const ROWS = 50;
const NAMES = ["action", "actor", "target", "from", "to"] as const;

/** The beginning of a day, where the reader is; what is no day is left as it is, to be named as a fault. */
function dayStart(day: string, days = 0): string {
  const [year, month, date] = day.split("-").map(Number);
  const start = new Date(year ?? Number.NaN, (month ?? 0) - 1, (date ?? 0) + days);
  return Number.isNaN(start.getTime()) ? day : start.toISOString();
}

function filtersOf(values: Partial<Record<(typeof NAMES)[number], string>>): AuditFilters {
  const { action, actor, target, from, to } = values;
  return {
    ...(action && { actions: [action as AuditAction] }),
    ...(actor && { actor }),
    ...(target && { target }),
    ...(from && { from: dayStart(from) }),
    // The day itself is part of it.
    ...(to && { to: dayStart(to, 1) }),
  };
}

/** Who changed what, and who read credentials: latest first. */
export function AuditView() {
  const { vault } = useSession();
  const { values, change } = useAddress(NAMES);
  const filters = filtersOf(values);
  const faults = vault.audit.validateList(filters);
  const day = (name: "from" | "to", label: string) => (
    <Field label={label} fault={faultAt(faults, name)}>
      {(ties) => (
        <input
          {...ties}
          type="date"
          value={values[name] ?? ""}
          onChange={({ currentTarget }) => change({ [name]: currentTarget.value })}
        />
      )}
    </Field>
  );
  return (
    <Page title="Audit">
      <div class="event-filters" role="search" aria-label="Audit">
        <Select
          label="Action"
          value={values.action ?? ""}
          options={[["", "All actions"], ...AUDIT_ACTIONS.map((action) => [action, actionWords(action)] as const)]}
          fault={faultAt(faults, "actions")}
          onChange={(action) => change({ action })}
        />
        <SearchField
          label="Actor"
          placeholder="A key's id, an identity, exactly"
          value={values.actor ?? ""}
          fault={faultAt(faults, "actor")}
          maxLength={255}
          onChange={(actor) => change({ actor: actor.trim() }, { replace: true })}
        />
        <SearchField
          label="Target"
          placeholder="Its id, or a platform"
          value={values.target ?? ""}
          fault={faultAt(faults, "target")}
          maxLength={255}
          onChange={(target) => change({ target: target.trim() }, { replace: true })}
        />
        {day("from", "From")}
        {day("to", "To")}
      </div>
      {faults.length === 0 && <Entries filters={filters} />}
      <Snippet
        call={{
          method: "GET",
          path: pathOf("/v1/audit", filters),
          javascript: `const { rows } = await vault.audit.page(${literal(filters)});`,
        }}
      />
    </Page>
  );
}

function Entries({ filters }: { filters: AuditFilters }) {
  const { vault } = useSession();
  const query = useInfiniteQuery({
    queryKey: ["audit", filters],
    queryFn: ({ pageParam, signal }) => vault.audit.page({ ...filters, limit: ROWS, before: pageParam }, { signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
    gcTime: 0,
  });
  const entries = query.data?.pages.flatMap(({ rows }) => rows) ?? [];
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = query;
  return (
    <Answer query={query} what="entries" rows={8}>
      {() => (
        <div class="section">
          {entries.length === 0 && !hasNextPage ? (
            <Empty title="No entries">Entries are deleted after some time.</Empty>
          ) : (
            <ol class="events" aria-label="Entries">
              {entries.map((entry) => (
                <Row key={entry.id} entry={entry} />
              ))}
            </ol>
          )}
          {hasNextPage && (
            <p>
              <button
                type="button"
                aria-disabled={isFetchingNextPage}
                onClick={() => !isFetchingNextPage && void fetchNextPage()}
              >
                {isFetchingNextPage ? "Loading…" : "Show older"}
              </button>
            </p>
          )}
        </div>
      )}
    </Answer>
  );
}

function Row({ entry }: { entry: AuditEntry }) {
  const { at, action, actor, target, requestId, count } = entry;
  const address = addressOf(target, action.endsWith(".deleted"));
  return (
    <li class="event">
      <span class="event-what">
        <strong>{actionWords(action)}</strong>
        {count > 1 && ` ${count} times`}
        <br />
        <span class="small">
          {address === undefined ? (
            <span class="muted mono">{target.id}</span>
          ) : (
            <Link href={address} class="mono">
              {target.id}
            </Link>
          )}
        </span>
      </span>
      <span>
        {actorWords(actor.type)} {actor.id !== null && <span class="mono small">{actor.id}</span>}
        {actor.keyId !== null && actor.keyId !== actor.id && (
          <>
            <br />
            <span class="muted small">
              by API key <span class="mono">{actor.keyId}</span>
            </span>
          </>
        )}
        {requestId !== null && (
          <>
            <br />
            <span class="muted small">
              request <span class="mono">{requestId}</span>
            </span>
          </>
        )}
      </span>
      <span class="event-when muted small" title={exact(at)}>
        <When at={at} />
      </span>
    </li>
  );
}
