// What is shown follows from the address: a link, a reload and the back button bring the same view.
import { useCallback, useMemo } from "preact/hooks";
import { useLocation, useSearch } from "wouter-preact";

export type QueryValues<Name extends string> = Partial<Record<Name, string>>;

/** The address of this view with other values; an undefined or empty one goes. */
export function withQuery(path: string, search: string, values: Record<string, string | undefined>): string {
  const query = new URLSearchParams(search);
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined || value === "") query.delete(name);
    else query.set(name, value);
  }
  return query.size > 0 ? `${path}?${query}` : path;
}

/**
 * The values that the address has for some names, the addresses of other values, and a way there. Typing replaces the
 * address instead of adding to the history.
 */
export function useUrlState<Name extends string>(names: readonly Name[]) {
  const [path, navigate] = useLocation();
  const search = useSearch();
  const values = useMemo(() => {
    const query = new URLSearchParams(search);
    const found: QueryValues<Name> = {};
    for (const name of names) {
      const value = query.get(name);
      if (value) found[name] = value;
    }
    return found;
  }, [search]);
  const hrefOf = useCallback(
    (changes: Record<string, string | undefined>) => withQuery(path, search, changes),
    [path, search],
  );
  const change = useCallback(
    (changes: Record<string, string | undefined>, options?: { replace?: boolean }) => {
      // Whoever tells of a change may have been drawn before another one.
      const here = location.search.slice(1);
      const href = withQuery(path, here, changes);
      if (href !== path + (here && `?${here}`)) navigate(href, options);
    },
    [navigate, path],
  );
  return { values, hrefOf, change };
}

/** A whole number of the address; what is none counts as absent. */
export const positiveInteger = (text: string | undefined) =>
  text !== undefined && /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined;
