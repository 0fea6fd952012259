// Bars in a table: who does not see the bars reads, or hears, the numbers.
import type { ComponentChildren, JSX } from "preact";
import "./chart.css";

export interface Bar {
  key: string;
  label: ComponentChildren;
  count: number;
  /** The bar's part of the full length; undefined for a line without a bar. */
  size: number | undefined;
  /** What the bar means: `good`, `warn`, `bad`, `none`; the accent colour unless told. */
  tone?: string;
}

interface Props {
  /** What the table is called. */
  caption: string;
  /** What a line stands for. */
  heading: string;
  bars: readonly Bar[];
  /** What the shares are of. */
  total: number;
  /** Whether a full bar stands for the total, and so shows what is missing to it. */
  hasTrack?: boolean;
  id?: string;
}

const PERCENT = new Intl.NumberFormat("en", { style: "percent", minimumFractionDigits: 1, maximumFractionDigits: 1 });
const MIN_SHARE = 0.001;

/** A part of a whole in percent; what there is never reads as nothing, nor a part as all. */
export function formatShare(count: number, total: number): string {
  if (count === 0 || total === 0) return "0%";
  if (count === total) return "100%";
  const part = count / total;
  if (part < MIN_SHARE) return "< 0.1%";
  return part > 1 - MIN_SHARE ? "> 99.9%" : PERCENT.format(part);
}

/** A size for the style sheet. */
const barStyle = (size: number) => ({ "--size": String(size) }) as JSX.CSSProperties;

// Their roles by name: what is not laid out as a table is not told as one everywhere.
export function BarChart({ caption, heading, bars, total, hasTrack = false, id }: Props) {
  return (
    <table class={`charts-css bar show-labels chart${hasTrack ? " has-track" : ""}`} role="table" id={id}>
      <caption>{caption}</caption>
      <thead role="rowgroup">
        <tr role="row">
          <th scope="col" role="columnheader">
            {heading}
          </th>
          <th scope="col" role="columnheader">
            Connections, and their share of all
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
