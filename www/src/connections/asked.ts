// What the address asks of the list of connections.
import type { ConnectionFilters, IdentityType } from "connector-vault/slim";
import { whole, type Values } from "../parts/address";

export const ROWS = 25;
/** The filters that a wide screen always shows, and those behind "More filters". */
export const FEW = ["q", "platform", "state", "active", "identityType", "tags", "tagsMatch"] as const;
export const MORE = ["identity", "account", "name", "platformVersion", "key"] as const;
export const NAMES = [...FEW, ...MORE, "page", "after", "new"] as const;

export type Name = (typeof NAMES)[number];
export type Asked = Values<Name>;

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
}: Asked): ConnectionFilters {
  return {
    ...texts,
    ...(tagsMatch && texts.tags && { tagsMatch }),
    ...(active && active !== "all" && { active: active === "true" || active === "false" ? active === "true" : active }),
  } as ConnectionFilters;
}

/** Whether the list has both active and inactive connections. The API lists them separately. */
export const isOfAll = ({ active }: Asked) => active === "all";

/** Where in the list: after a cursor, whose page's number is kept beside it, or on a page by number. */
export interface Place {
  after: string | undefined;
  page: number | undefined;
}

export const placeOf = ({ after, page }: Asked): Place => ({ after, page: whole(page) });

/** The same as the address has it. */
export const inAddress = ({ after, page }: Place) => ({
  after,
  page: page === undefined || page === 1 ? undefined : String(page),
});
