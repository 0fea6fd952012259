// View state lives in the URL, so that links, reloads and the back button restore it.
import { useCallback, useMemo } from "preact/hooks";
import { useLocation, useSearch } from "wouter-preact";

export type QueryValues<Name extends string> = Partial<Record<Name, string>>;

/** The URL of a path with changed query parameters. Undefined and empty values are removed. */
export function withQuery(path: string, search: string, values: Record<string, string | undefined>): string {
  const query = new URLSearchParams(search);
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined || value === "") query.delete(name);
    else query.set(name, value);
  }
  return query.size > 0 ? `${path}?${query}` : path;
}

/**
 * The query parameters with these names, a function for links that change them, and one that navigates there. Typing
 * replaces the history entry instead of adding one.
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
  const hrefOf = useCallback(
    (changes: Record<string, string | undefined>) => withQuery(path, search, changes),
    [path, search],
  );
  const change = useCallback(
    (changes: Record<string, string | undefined>, options?: { replace?: boolean }) => {
      // The caller may have rendered before a later change.
      const currentSearch = location.search.slice(1);
      const href = withQuery(path, currentSearch, changes);
      if (href !== path + (currentSearch && `?${currentSearch}`)) navigate(href, options);
    },
    [navigate, path],
  );
  return { values, hrefOf, change };
}

/** A positive integer from the URL; anything else counts as absent. */
export const positiveInteger = (text: string | undefined) =>
  text !== undefined && /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined;
