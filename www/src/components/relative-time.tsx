import { useEffect, useState } from "preact/hooks";

const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 365 * 86_400_000],
  ["month", 30 * 86_400_000],
  ["week", 7 * 86_400_000],
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
];
const RELATIVE = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const EXACT = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "medium" });

/** The unit in which a distance is told. */
const unitOf = (distance: number) =>
  UNITS.find(([, step]) => Math.abs(distance) >= step) ?? (["second", 1_000] as const);

/** How long ago, or how soon, in words. */
export function formatRelative(at: string, now = Date.now()): string {
  const distance = Date.parse(at) - now;
  const [unit, length] = unitOf(distance);
  return RELATIVE.format(Math.round(distance / length), unit);
}

/** The time. It draws again as often as words about a moment may change. */
export function useNow(at: string | null): number {
  const [tick, setTick] = useState(0);
  useEffect(() => {
    if (at === null) return;
    const [, length] = unitOf(Date.parse(at) - Date.now());
    // What is days away changes while nobody looks.
    if (length > 3_600_000) return;
    const timer = setTimeout(() => setTick(tick + 1), length / 2);
    return () => clearTimeout(timer);
  }, [at, tick]);
  return Date.now();
}

/** The moment, in the reader's own time zone. */
export const formatExact = (at: string) => EXACT.format(new Date(at));

/** A moment: how long ago, and exactly. */
export function RelativeTime({ at, showExact = false }: { at: string; showExact?: boolean }) {
  const now = useNow(at);
  return (
    <time dateTime={at} title={at}>
      {formatRelative(at, now)}
      {showExact && <span class="exact muted small">{formatExact(at)}</span>}
    </time>
  );
}

/** For how long something has been so. */
export function Duration({ at }: { at: string }) {
  const distance = useNow(at) - Date.parse(at);
  const [unit, length] = unitOf(distance);
  const form = new Intl.NumberFormat("en", { style: "unit", unit, unitDisplay: "long" });
  return (
    <time dateTime={at} title={at}>
      {form.format(Math.round(distance / length))}
    </time>
  );
}

/** When something is due. Once that moment has passed, it can happen at any time. */
export const DueTime = ({ at, showExact = false }: { at: string; showExact?: boolean }) =>
  Date.parse(at) > useNow(at) ? <RelativeTime at={at} showExact={showExact} /> : <>any moment now</>;
