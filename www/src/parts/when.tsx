const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 365 * 86_400_000],
  ["month", 30 * 86_400_000],
  ["week", 7 * 86_400_000],
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
];
const RELATIVE = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const EXACT = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "medium" });

/** How long ago, or how soon, in words. */
export function relative(at: string, now = Date.now()): string {
  const distance = Date.parse(at) - now;
  const [unit, length] = STEPS.find(([, step]) => Math.abs(distance) >= step) ?? ["second", 1_000];
  return RELATIVE.format(Math.round(distance / length), unit);
}

/** The moment, in the reader's own time zone. */
export const exact = (at: string) => EXACT.format(new Date(at));

/** A moment: how long ago, and exactly. */
export function When({ at, both = false }: { at: string; both?: boolean }) {
  return (
    <time dateTime={at} title={at}>
      {relative(at)}
      {both && <span class="exact muted small">{exact(at)}</span>}
    </time>
  );
}

/** When something is due. Once that moment has passed, it can happen at any time. */
export const Soon = ({ at, both = false }: { at: string; both?: boolean }) =>
  Date.parse(at) > Date.now() ? <When at={at} both={both} /> : <>any moment now</>;
