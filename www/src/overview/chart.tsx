// A bar chart, built as a table so that screen readers can read the numbers.
import type { ComponentChildren, JSX } from "preact";
import "./chart.css";

export interface Bar {
  key: string;
  label: ComponentChildren;
  count: number;
  /** Length of the bar, from 0 to 1. Undefined for a row without a bar. */
  size: number | undefined;
  /** `good`, `warn`, `bad` or `none`. The default is the accent colour. */
  tone?: string;
}

interface Props {
  caption: string;
  heading: string;
  /** The heading of the column with the counts. Default: "Connections". */
  countHeading?: string;
  bars: readonly Bar[];
  total: number;
  /** Whether a full bar represents the total, so that the remainder is visible. */
  hasTrack?: boolean;
  id?: string;
}

const PERCENT = new Intl.NumberFormat("en", { style: "percent", minimumFractionDigits: 1, maximumFractionDigits: 1 });
const MIN_SHARE = 0.001;

/** Formats a percentage. Never rounds a nonzero count to 0%, nor an incomplete one to 100%. */
export function formatShare(count: number, total: number): string {
  if (count === 0 || total === 0) return "0%";
  if (count === total) return "100%";
  const part = count / total;
  if (part < MIN_SHARE) return "< 0.1%";
  return part > 1 - MIN_SHARE ? "> 99.9%" : PERCENT.format(part);
}

const barStyle = (size: number) => ({ "--size": String(size) }) as JSX.CSSProperties;

// Has explicit roles, because browsers drop table semantics when CSS changes the layout.
export function BarChart({ caption, heading, countHeading = "Connections", bars, total, hasTrack = false, id }: Props) {
  return (
    <table class={`charts-css bar show-labels chart${hasTrack ? " has-track" : ""}`} role="table" id={id}>
      <caption>{caption}</caption>
      <thead role="rowgroup">
        <tr role="row">
          <th scope="col" role="columnheader">
            {heading}
          </th>
          <th scope="col" role="columnheader">
            {countHeading}, and their share of all
          </th>
        </tr>
      </thead>
      <tbody role="rowgroup">
        {bars.map(({ key, label, count, size, tone }) => (
          <tr key={key} role="row" data-tone={tone} class={size === undefined ? "no-bar" : ""}>
            <th scope="row" role="rowheader">
              {label}
            </th>
            <td role="cell" class={count === 0 ? "is-zero" : ""} style={barStyle(size ?? 0)}>
              <span class="data">
                <span class="chart-count">{count.toLocaleString("en")}</span>{" "}
                <span class="chart-share">{formatShare(count, total)}</span>
              </span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
