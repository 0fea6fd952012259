// What the address asks of the list of connections.
import type { ConnectionFilters, IdentityType } from "connector-vault/slim";
import { positiveInteger, type QueryValues } from "../components/url-state";

export const PAGE_SIZE = 25;
/** The filters that a wide screen always shows, and those behind "More filters". */
export const BASIC_FILTERS = ["q", "platform", "state", "active", "identityType", "tags", "tagsMatch"] as const;
export const EXTRA_FILTERS = ["identity", "account", "name", "platformVersion", "key"] as const;
export const PARAMETERS = [...BASIC_FILTERS, ...EXTRA_FILTERS, "page", "after", "new"] as const;

export type ParameterName = (typeof PARAMETERS)[number];
export type FilterValues = QueryValues<ParameterName>;

export const IDENTITY_TYPES: readonly IdentityType[] = ["user", "team", "organization", "project"];

/**
 * The filters of an address. It can hold anything, and goes to the validation as it is: to leave a wrong value out would show
 * more than was asked for.
 */
export function filtersOf({
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

/** Whether the list has both active and inactive connections. The API lists them separately. */
export const includesInactive = ({ active }: FilterValues) => active === "all";

/** Where in the list: after a cursor, whose page's number is kept beside it, or on a page by number. */
export interface PagePosition {
  after: string | undefined;
  page: number | undefined;
}

export const positionOf = ({ after, page }: FilterValues): PagePosition => ({ after, page: positiveInteger(page) });

/** The same as the address has it. */
export const positionParameters = ({ after, page }: PagePosition) => ({
  after,
  page: page === undefined || page === 1 ? undefined : String(page),
});
