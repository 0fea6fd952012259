import { useInfiniteQuery } from "@tanstack/preact-query";
import type { AuditAction, AuditEntry, AuditFilters } from "connector-vault/slim";
import { Link } from "wouter-preact";
import { findFaultMessage } from "../components/faults";
import { Field } from "../components/field";
import { Log } from "../components/log";
import { Page } from "../components/page";
import { RelativeTime, formatExact } from "../components/relative-time";
import { SearchField } from "../components/search-field";
import { Select } from "../components/select";
import { Snippet, toLiteral, pathWithQuery } from "../components/snippet";
import { useUrlState } from "../components/url-state";
import { useSession } from "../session/session";
import { AUDIT_ACTIONS, actionLabel, actorLabel, targetHref } from "./messages";

const PAGE_SIZE = 50;
const PARAMETERS = ["action", "actor", "target", "from", "to"] as const;

/** Start of a day in the user's time zone. Returns invalid input unchanged, so that validation reports it. */
function startOfDay(day: string, days = 0): string {
  const [year, month, date] = day.split("-").map(Number);
  const start = new Date(year ?? Number.NaN, (month ?? 0) - 1, (date ?? 0) + days);
  return Number.isNaN(start.getTime()) ? day : start.toISOString();
}

function parseFilters(values: Partial<Record<(typeof PARAMETERS)[number], string>>): AuditFilters {
  const { action, actor, target, from, to } = values;
  return {
    ...(action && { actions: [action as AuditAction] }),
    ...(actor && { actor }),
    ...(target && { target }),
    ...(from && { from: startOfDay(from) }),
    // The filter excludes `to`, but the chosen range includes its last day.
    ...(to && { to: startOfDay(to, 1) }),
  };
}

/** The audit log, latest first. */
export function AuditView() {
  const { vault } = useSession();
  const { values, change } = useUrlState(PARAMETERS);
  const filters = parseFilters(values);
  const faults = vault.audit.validateList(filters);
  const dayField = (name: "from" | "to", label: string) => (
    <Field label={label} fault={findFaultMessage(faults, name)}>
      {(attributes) => (
        <input
          {...attributes}
          type="date"
          value={values[name] ?? ""}
          onChange={({ currentTarget }) => change({ [name]: currentTarget.value })}
        />
      )}
    </Field>
  );
  return (
    <Page title="Audit">
      <div class="log-filters" role="search" aria-label="Audit">
        <Select
          label="Action"
          value={values.action ?? ""}
          options={[["", "All actions"], ...AUDIT_ACTIONS.map((action) => [action, actionLabel(action)] as const)]}
          fault={findFaultMessage(faults, "actions")}
          onChange={(action) => change({ action })}
        />
        <SearchField
          label="Actor"
          placeholder="Exact key ID or identity"
          value={values.actor ?? ""}
          fault={findFaultMessage(faults, "actor")}
          maxLength={255}
          onChange={(actor) => change({ actor: actor.trim() }, { replace: true })}
        />
        <SearchField
          label="Target"
          placeholder="ID or platform"
          value={values.target ?? ""}
          fault={findFaultMessage(faults, "target")}
          maxLength={255}
          onChange={(target) => change({ target: target.trim() }, { replace: true })}
        />
        {dayField("from", "From")}
        {dayField("to", "To")}
      </div>
      {faults.length === 0 && <Entries filters={filters} />}
      <Snippet
        call={{
          method: "GET",
          path: pathWithQuery("/v1/audit", filters),
          javascript: `const { rows } = await vault.audit.page(${toLiteral(filters)});`,
        }}
      />
    </Page>
  );
}

function Entries({ filters }: { filters: AuditFilters }) {
  const { vault } = useSession();
  const query = useInfiniteQuery({
    queryKey: ["audit", filters],
    queryFn: ({ pageParam, signal }) =>
      vault.audit.page({ ...filters, limit: PAGE_SIZE, before: pageParam }, { signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
    gcTime: 0,
  });
  const entries = query.data?.pages.flatMap(({ rows }) => rows) ?? [];
  return (
    <Log query={query} rows={entries} label="Entries" empty="Entries are deleted after some time.">
      {(entry) => <Row key={entry.id} entry={entry} />}
    </Log>
  );
}

function Row({ entry }: { entry: AuditEntry }) {
  const { at, action, actor, target, requestId, count } = entry;
  const address = targetHref(target, action.endsWith(".deleted"));
  return (
    <li class="log-entry">
      <span class="log-entry-main">
        <strong>{actionLabel(action)}</strong>
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
        {actorLabel(actor.type)} {actor.id !== null && <span class="mono small">{actor.id}</span>}
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
      <span class="log-entry-time muted small" title={formatExact(at)}>
        <RelativeTime at={at} />
      </span>
    </li>
  );
}
