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

/** The largest unit that is not longer than the distance. */
const selectUnit = (distance: number) =>
  UNITS.find(([, unitMs]) => Math.abs(distance) >= unitMs) ?? (["second", 1_000] as const);

/** Formats a relative time: "3 hours ago", "in 2 days". */
export function formatRelative(at: string, now = Date.now()): string {
  const distance = Date.parse(at) - now;
  const [unit, length] = selectUnit(distance);
  return RELATIVE.format(Math.round(distance / length), unit);
}

/** The current time, which updates as often as the relative time can change. */
export function useCurrentTime(at: string | null): number {
  const [tick, setTick] = useState(0);
  useEffect(() => {
    if (at === null) return;
    const [, length] = selectUnit(Date.parse(at) - Date.now());
    // Days and longer units change too rarely for a timer.
    if (length > 3_600_000) return;
    const timer = setTimeout(() => setTick(tick + 1), length / 2);
    return () => clearTimeout(timer);
  }, [at, tick]);
  return Date.now();
}

/** Formats a time in the user's time zone. */
export const formatExact = (at: string) => EXACT.format(new Date(at));

/** A relative time, with the exact time as its tooltip. */
export function RelativeTime({ at, showExact = false }: { at: string; showExact?: boolean }) {
  const now = useCurrentTime(at);
  return (
    <time dateTime={at} title={at}>
      {formatRelative(at, now)}
      {showExact && <span class="exact muted small">{formatExact(at)}</span>}
    </time>
  );
}

/** The time since `at`, such as "3 hours". */
export function Duration({ at }: { at: string }) {
  const distance = useCurrentTime(at) - Date.parse(at);
  const [unit, length] = selectUnit(distance);
  const format = new Intl.NumberFormat("en", { style: "unit", unit, unitDisplay: "long" });
  return (
    <time dateTime={at} title={at}>
      {format.format(Math.round(distance / length))}
    </time>
  );
}

/** The relative time at which a scheduled job is due, or "any moment now" if that time has passed. */
export const DueTime = ({ at, showExact = false }: { at: string; showExact?: boolean }) =>
  Date.parse(at) > useCurrentTime(at) ? <RelativeTime at={at} showExact={showExact} /> : <>any moment now</>;
