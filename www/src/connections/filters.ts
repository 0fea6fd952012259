// The filters of the list of connections, which are query parameters of the console's URL.
import type { ConnectionFilters, IdentityType } from "connector-vault/slim";
import { positiveInteger, type QueryValues } from "../components/url-state";

export const PAGE_SIZE = 25;
/** Filters that wide screens always show. `EXTRA_FILTERS` are behind "More filters". */
export const BASIC_FILTERS = ["q", "platform", "state", "active", "identityType", "tags", "tagsMatch"] as const;
export const EXTRA_FILTERS = ["identity", "account", "name", "platformVersion", "key"] as const;
export const PARAMETERS = [...BASIC_FILTERS, ...EXTRA_FILTERS, "page", "after", "new"] as const;

export type ParameterName = (typeof PARAMETERS)[number];
export type FilterValues = QueryValues<ParameterName>;

export const IDENTITY_TYPES: readonly IdentityType[] = ["user", "team", "organization", "project"];

/**
 * Reads the filters from a URL. Keeps invalid values, so that validation reports them: dropping a filter would show
 * more rows.
 */
export function parseFilters({
  page: _page,
  after: _after,
  new: _new,
  tagsMatch,
  active,
  ...texts
}: FilterValues): ConnectionFilters {
  return {
    ...texts,
    ...(tagsMatch && texts.tags && { tagsMatch }),
    ...(active && active !== "all" && { active: active === "true" || active === "false" ? active === "true" : active }),
  } as ConnectionFilters;
}

/** Whether the list contains both active and inactive connections. The API lists them separately. */
export const includesInactive = ({ active }: FilterValues) => active === "all";

/** A position in the list: a cursor with the page number, or only a page number. */
export interface PagePosition {
  after: string | undefined;
  page: number | undefined;
}

export const parsePosition = ({ after, page }: FilterValues): PagePosition => ({ after, page: positiveInteger(page) });

export const toPositionParameters = ({ after, page }: PagePosition) => ({
  after,
  page: page === undefined || page === 1 ? undefined : String(page),
});
