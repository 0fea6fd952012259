// Recent requests by day. Visible for keys with the scope `usage:read`.
import { useQuery } from "@tanstack/preact-query";
import type { Usage } from "connector-vault/slim";
import { QueryView } from "../components/query-view";
import { Snippet, pathWithQuery } from "../components/snippet";
import { useSession } from "../session/session";
import { type Bar, BarChart } from "./chart";
import "./overview.css";

const DAYS = 14;
const DAY_MS = 86_400_000;
const LABEL = new Intl.DateTimeFormat("en", { weekday: "short", month: "short", day: "numeric", timeZone: "UTC" });

const isoDay = (milliseconds: number) => new Date(milliseconds).toISOString().slice(0, 10);

export function Requests() {
  const { may } = useSession();
  return may("usage:read") ? <RequestsOfKey /> : null;
}

function RequestsOfKey() {
  const { vault } = useSession();
  const query = { from: isoDay(Date.now() - (DAYS - 1) * DAY_MS) };
  const usage = useQuery({ queryKey: ["usage", query], queryFn: ({ signal }) => vault.usage(query, { signal }) });
  return (
    <>
      <section class="card breakdown requests" aria-labelledby="requests">
        <h2 id="requests">Requests</h2>
        <QueryView query={usage} name="the requests">
          {(counts) => (
            <BarChart
              caption={`Requests per day (UTC) in the last ${DAYS} days`}
              heading="Day"
              countHeading="Requests"
              total={counts.requests}
              bars={toBars(counts)}
            />
          )}
        </QueryView>
      </section>
      <Snippet
        call={{
          method: "GET",
          path: pathWithQuery("/v1/usage", query),
          javascript: `const { rows } = await vault.usage(${JSON.stringify(query)});`,
        }}
      />
    </>
  );
}

/** Returns one bar for each day, including days without requests. */
function toBars({ from, to, rows }: Usage): Bar[] {
  const counts = new Map(rows.map(({ day, requests }) => [day, requests]));
  const maxCount = Math.max(1, ...counts.values());
  const bars: Bar[] = [];
  for (let dayStart = Date.parse(to); dayStart >= Date.parse(from); dayStart -= DAY_MS) {
    const day = isoDay(dayStart);
    const count = counts.get(day) ?? 0;
    bars.push({ key: day, label: <time dateTime={day}>{LABEL.format(dayStart)}</time>, count, size: count / maxCount });
  }
  return bars;
}
