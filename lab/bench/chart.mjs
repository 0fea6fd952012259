// Bar charts as SVG: a group of bars for each case, a bar for each Worker.
const COLOURS = {
  ours: ["connector-vault", "#2563eb", "#60a5fa"],
  hono: ["Hono", "#ea580c", "#fb923c"],
  bare: ["bare Worker", "#71717a", "#a1a1aa"],
};
const [WIDTH, LABELS, RIGHT, TOP, BAR, GAP, BOTTOM] = [860, 270, 70, 72, 13, 14, 34];

const escape = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll("`", "");

/** Round numbers from 0 to just above `max`. */
function ticks(max) {
  const rough = max / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= rough);
  return Array.from({ length: Math.ceil(max / step) + 1 }, (_, n) => n * step);
}

/** Powers of ten from below the smallest value to above the largest. */
function powersOfTen(values) {
  const [low, high] = [Math.floor(Math.log10(Math.min(...values))), Math.ceil(Math.log10(Math.max(...values)))];
  return Array.from({ length: high - low + 1 }, (_, n) => 10 ** (low + n));
}

/**
 * @param {{ title: string, unit: string, groups: { name: string, values: Record<string, number> }[], logarithmic?: boolean,
 *           digits?: number, mark?: { at: number, text: string } }} chart
 * @returns {string} an SVG document for light and dark colour schemes
 */
export function barChart({ title, unit, groups, logarithmic = false, digits = 1, mark }) {
  const who = Object.keys(groups[0].values);
  const all = groups.flatMap(({ values }) => Object.values(values)).filter(Number.isFinite);
  const axis = logarithmic ? powersOfTen(all) : ticks(Math.max(...all, mark?.at ?? 0));
  const [from, to] = [axis[0], axis.at(-1)];
  const share = (value) => (logarithmic ? Math.log10(value / from) / Math.log10(to / from) : value / to);
  const x = (value) => LABELS + share(value) * (WIDTH - LABELS - RIGHT);
  const groupHeight = who.length * BAR + GAP;
  const height = TOP + groups.length * groupHeight + BOTTOM;
  const number = (value) =>
    value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  const bottom = height - BOTTOM;
  const grid = axis.map(
    (value) =>
      `<path class="grid" d="M${x(value).toFixed(1)} ${TOP - 4}V${bottom}"/><text class="small" x="${x(value).toFixed(1)}" y="${bottom + 16}" text-anchor="middle">${value.toLocaleString("en")}</text>`,
  );
  const legend = who.map(
    (name, at) =>
      `<rect class="${name}" x="${LABELS + at * 150}" y="38" width="12" height="12" rx="2"/><text x="${LABELS + at * 150 + 18}" y="48">${COLOURS[name][0]}</text>`,
  );
  const bars = groups.flatMap((group, index) => {
    const y = TOP + index * groupHeight;
    const label = `<text x="${LABELS - 10}" y="${y + (who.length * BAR) / 2 + 4}" text-anchor="end">${escape(group.name)}</text>`;
    return [
      label,
      ...who.map((name, at) => {
        const [value, top] = [group.values[name], y + at * BAR];
        if (!Number.isFinite(value)) return `<text class="small" x="${LABELS + 5}" y="${top + BAR - 4}">–</text>`;
        const end = Math.max(x(value), LABELS + 1);
        return `<rect class="${name}" x="${LABELS}" y="${top}" width="${(end - LABELS).toFixed(1)}" height="${BAR - 2}" rx="1.5"/><text class="small" x="${(end + 5).toFixed(1)}" y="${top + BAR - 4}">${number(value)}</text>`;
      }),
    ];
  });
  const marked = mark
    ? [
        `<path class="mark" d="M${x(mark.at).toFixed(1)} ${TOP - 8}V${bottom}"/><text class="small" x="${(x(mark.at) + 4).toFixed(1)}" y="${TOP - 10}">${escape(mark.text)}</text>`,
      ]
    : [];
  const colours = (index) => who.map((name) => `.${name}{fill:${COLOURS[name][index]}}`).join("");
  const style = `text{font:13px system-ui,sans-serif;fill:#18181b}.small{font-size:11px}.title{font-size:15px;font-weight:600}.grid{stroke:#e4e4e7}.mark{stroke:#dc2626;stroke-dasharray:4 3}${colours(1)}
@media(prefers-color-scheme:dark){text{fill:#f4f4f5}.grid{stroke:#3f3f46}${colours(2)}}`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${escape(title)}">
<style>${style}</style>
<text class="title" x="10" y="22">${escape(title)}</text>
<text class="small" x="${WIDTH - RIGHT}" y="22" text-anchor="end">${escape(unit)}${logarithmic ? ", logarithmic" : ""}; shorter is better</text>
${[...legend, ...grid, ...bars, ...marked].join("\n")}
</svg>
`;
}
