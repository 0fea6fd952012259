import { useQuery } from "@tanstack/preact-query";
import type { ConnectionState, ConnectionSummary, IdentityType } from "connector-vault/slim";
import { ArrowRight } from "lucide-preact";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { StateBadge } from "../components/badge";
import { EmptyState } from "../components/empty-state";
import { Logo } from "../components/logo";
import { Page } from "../components/page";
import { QueryView } from "../components/query-view";
import { Snippet, pathWithQuery } from "../components/snippet";
import { usePlatforms } from "../connectors/platforms";
import { useSession } from "../session/session";
import { Attention } from "./attention";
import { BarChart, type Bar, formatShare } from "./chart";
import { Requests } from "./requests";
import "./overview.css";

const MAX_SHOWN_PLATFORMS = 12;
/** The states with the tones of their bars, from best to worst. */
const STATES: readonly (readonly [state: ConnectionState, tone: string])[] = [
  ["operational", "good"],
  ["degraded", "warn"],
  ["failed", "bad"],
  ["unknown", "none"],
];
const IDENTITY_TYPES: readonly (readonly [type: IdentityType, label: string])[] = [
  ["user", "Users"],
  ["team", "Teams"],
  ["organization", "Organizations"],
  ["project", "Projects"],
];

const connectionsHref = (filters: object) => pathWithQuery("/connections", filters);

export const Overview = () => (
  <Page title="Overview">
    <Summary />
    <Requests />
  </Page>
);

function Summary() {
  const { vault } = useSession();
  const query = useQuery({ queryKey: ["summary"], queryFn: ({ signal }) => vault.connections.summary({ signal }) });
  return (
    <>
      <QueryView query={query} name="the numbers">
        {(summary) => (summary.total === 0 ? <NoConnections /> : <Numbers summary={summary} />)}
      </QueryView>
      <Snippet
        call={{
          method: "GET",
          path: "/v1/vault/summary",
          javascript: "const summary = await vault.connections.summary();",
        }}
      />
    </>
  );
}

function NoConnections() {
  const { may, whoami } = useSession();
  return (
    <EmptyState title="No connections yet">
      {may("connections:write") ? (
        <p>
          <Link href="/connections">Connect an account</Link>, or <Link href="/connections?new=1">add a record</Link> of
          one whose credentials you hold.
        </p>
      ) : (
        <p>
          To create one, use a key with the scope <code>connections:write</code>.
        </p>
      )}
      {whoami.environment === "test" && (
        <p>
          Or add sample connections: <code>npm run seed -- --account {whoami.account} --connections 1000</code>
        </p>
      )}
    </EmptyState>
  );
}

function Numbers({ summary }: { summary: ConnectionSummary }) {
  const { total, active } = summary;
  return (
    <div class="overview">
      <ul class="stats" aria-label="All connections">
        <Stat label="Connections" count={total} note="active and inactive" href={connectionsHref({ active: "all" })} />
        <Stat
          label="Active"
          count={active.true}
          note={`${formatShare(active.true, total)} of all`}
          tone="good"
          href="/connections"
        />
        <Stat
          label="Inactive"
          count={active.false}
          note={`${formatShare(active.false, total)} of all`}
          tone="none"
          href={connectionsHref({ active: false })}
        />
      </ul>
      <Attention summary={summary} />
      <div class="breakdowns">
        <div>
          <Breakdown id="by-state" title="By state">
            <BarChart
              caption="Connections by state"
              heading="State"
              total={total}
              hasTrack
              bars={STATES.map(([state, tone]) =>
                bar(
                  state,
                  summary.state[state],
                  total,
                  <Link href={connectionsHref({ state, active: "all" })}>
                    <StateBadge state={state} />
                  </Link>,
                  tone,
                ),
              )}
            />
          </Breakdown>
          <Breakdown id="by-type" title="By identity type">
            <BarChart
              caption="Connections by identity type"
              heading="Identity type"
              total={total}
              hasTrack
              bars={IDENTITY_TYPES.map(([type, label]) =>
                bar(
                  type,
                  summary.identityType[type],
                  total,
                  <Link href={connectionsHref({ identityType: type, active: "all" })}>{label}</Link>,
                ),
              )}
            />
          </Breakdown>
        </div>
        <ByPlatform summary={summary} />
      </div>
    </div>
  );
}

const bar = (key: string, count: number, full: number, label: ComponentChildren, tone?: string): Bar => ({
  key,
  count,
  label,
  size: full > 0 ? count / full : 0,
  ...(tone && { tone }),
});

/** A number with its label, optionally with a link to the rows. */
function Stat({
  label,
  count,
  note,
  tone,
  href,
}: {
  label: string;
  count: number;
  note: string;
  tone?: string;
  href?: string;
}) {
  const content = (
    <>
      <span class="label">
        {label}
        {href !== undefined && <ArrowRight size={16} aria-hidden="true" />}
      </span>
      <span class="number">{count.toLocaleString("en")}</span>
      <span class="muted small">{note}</span>
    </>
  );
  return (
    <li>
      {href === undefined ? (
        <div class="card stat" data-tone={tone}>
          {content}
        </div>
      ) : (
        <Link class="card stat" data-tone={tone} href={href}>
          {content}
        </Link>
      )}
    </li>
  );
}

function Breakdown({ id, title, children }: { id: string; title: string; children: ComponentChildren }) {
  return (
    <section class={`card breakdown ${id}`} aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  );
}

function ByPlatform({ summary: { total, platforms, otherPlatforms } }: { summary: ConnectionSummary }) {
  const names = usePlatforms()?.byName;
  const [showsAll, setShowsAll] = useState(false);
  const visiblePlatforms = showsAll ? platforms : platforms.slice(0, MAX_SHOWN_PLATFORMS);
  const hidden = platforms.slice(visiblePlatforms.length);
  const hiddenTotal = hidden.reduce((sum, row) => sum + row.total, otherPlatforms);
  const largest = platforms[0]?.total ?? 0;
  const bars = visiblePlatforms.map((row) => {
    const connector = names?.get(row.platform);
    const name = connector?.name ?? row.platform;
    return bar(
      row.platform,
      row.total,
      largest,
      <span class="platform">
        <Logo name={name} image={connector?.image} size={32} />
        <Link href={connectionsHref({ platform: row.platform, active: "all" })}>{name}</Link>
        {connector && <span class="mono muted">{row.platform}</span>}
      </span>,
    );
  });
  const more =
    otherPlatforms > 0
      ? "All other platforms"
      : hidden.length === 1
        ? "1 more platform"
        : `${hidden.length} more platforms`;
  const others: Bar[] =
    hiddenTotal > 0 ? [{ key: "", label: <span class="muted">{more}</span>, count: hiddenTotal, size: undefined }] : [];
  return (
    <Breakdown id="by-platform" title="By platform">
      <BarChart
        id="platforms"
        caption="Connections by platform"
        heading="Platform"
        total={total}
        bars={[...bars, ...others]}
      />
      {platforms.length > MAX_SHOWN_PLATFORMS && (
        <button type="button" aria-expanded={showsAll} aria-controls="platforms" onClick={() => setShowsAll(!showsAll)}>
          {showsAll
            ? `Show the first ${MAX_SHOWN_PLATFORMS} only`
            : otherPlatforms > 0
              ? `Show the first ${platforms.length}`
              : `Show all ${platforms.length}`}
        </button>
      )}
    </Breakdown>
  );
}
