// Stores view state in the URL, so that links, reloads and the back button restore it.
import { useCallback, useMemo } from "preact/hooks";
import { useLocation, useSearch } from "wouter-preact";

export type QueryValues<Name extends string> = Partial<Record<Name, string>>;

/** Returns the URL of a path with changed query parameters. Removes parameters with undefined and empty values. */
export function withQuery(path: string, search: string, values: Record<string, string | undefined>): string {
  const query = new URLSearchParams(search);
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined || value === "") query.delete(name);
    else query.set(name, value);
  }
  return query.size > 0 ? `${path}?${query}` : path;
}

/**
 * Returns the query parameters `names`, a function that builds a URL with changed parameters, and one that navigates to
 * it. Typing replaces the history entry instead of adding one.
 */
export function useUrlState<Name extends string>(names: readonly Name[]) {
  const [path, navigate] = useLocation();
  const search = useSearch();
  const values = useMemo(() => {
    const query = new URLSearchParams(search);
    const values: QueryValues<Name> = {};
    for (const name of names) {
      const value = query.get(name);
      if (value) values[name] = value;
    }
    return values;
  }, [search]);
  const getHref = useCallback(
    (changes: Record<string, string | undefined>) => withQuery(path, search, changes),
    [path, search],
  );
  const change = useCallback(
    (changes: Record<string, string | undefined>, options?: { replace?: boolean }) => {
      // Not the caller's `search`, which may be older than the URL.
      const currentSearch = location.search.slice(1);
      const href = withQuery(path, currentSearch, changes);
      if (href !== path + (currentSearch && `?${currentSearch}`)) navigate(href, options);
    },
    [navigate, path],
  );
  return { values, getHref, change };
}

/** Parses a positive integer from the URL. Ignores anything else. */
export const positiveInteger = (text: string | undefined) =>
  text !== undefined && /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined;
