// The list of connections as it is asked for and kept.
import { keepPreviousData, useQuery } from "@tanstack/preact-query";
import {
  ValidationError,
  type ConnectionFilters,
  type ConnectionWithAccount,
  type ConnectorVault,
  type Page,
} from "connector-vault/slim";
import { useSession } from "../session/session";
import { untilSignOut } from "../session/store";
import { ROWS, type Place } from "./asked";

/** What a page says; the way on is an address here. */
export type Rows = Pick<Page<ConnectionWithAccount>, "rows" | "total" | "pages" | "page" | "after">;

const WITH_ACCOUNT = { include: "account" } as const;

/** Where one came from, by the cursor that led on. Cursors lead one way only. */
const cameFrom = untilSignOut(() => new Map<string, Place>());

const isAbout = (error: unknown, name: string) =>
  error instanceof ValidationError && error.errors.some(({ parameter }) => parameter === name);

/** Whether a failure says that a cursor leads nowhere: it is of another list or key, or was changed. */
export const isLost = (error: unknown) => isAbout(error, "after");

/** Whether a failure says that a page can't be opened by its number: too much would be read on the way. */
export const isTooFar = (error: unknown) => isAbout(error, "page");

async function read(
  vault: ConnectorVault,
  filters: ConnectionFilters,
  { after, page }: Place,
  signal: AbortSignal,
): Promise<Rows> {
  const ask = (where: ConnectionFilters) =>
    vault.connections.list({ ...filters, limit: ROWS, ...where, ...WITH_ACCOUNT }, { signal });
  const answer =
    after === undefined
      ? await ask({ page })
      : await ask({ after }).catch((error: unknown) => {
          // The number of its page is as good, and only dearer: for whoever comes with another key, say.
          if (page === undefined || !isLost(error)) throw error;
          return ask({ page });
        });
  const { rows, total, pages, page: number, after: onward } = answer;
  if (onward !== undefined) cameFrom().set(onward, { after, page: number });
  return { rows, total, pages, page: number, after: onward };
}

/** A page of the active connections and, after these, the inactive ones. */
async function readAll(
  vault: ConnectorVault,
  filters: ConnectionFilters,
  page: number,
  signal: AbortSignal,
): Promise<Rows> {
  const ask = (active: boolean, where: ConnectionFilters) =>
    vault.connections.list({ ...filters, active, ...where, ...WITH_ACCOUNT }, { signal });
  const active = await ask(true, { limit: ROWS, page });
  const behind = page - active.pages;
  const inactive = await ask(false, behind > 0 ? { limit: ROWS, page: behind } : { limit: 1 });
  return {
    rows: behind > 0 ? inactive.rows : active.rows,
    total: active.total + inactive.total,
    pages: active.pages + Math.ceil(inactive.total / ROWS),
    page,
    after: undefined,
  };
}

/** The rows at a place. While the filters are not valid, those of before stay. */
export function useRows(filters: ConnectionFilters, place: Place, isValid: boolean, isOfAll = false) {
  const { vault } = useSession();
  return useQuery({
    queryKey: ["connections", "list", filters, place, isOfAll],
    queryFn: ({ signal }) =>
      isOfAll ? readAll(vault, filters, place.page ?? 1, signal) : read(vault, filters, place, signal),
    placeholderData: keepPreviousData,
    enabled: isValid,
  });
}

/** The places before and after a page. */
export function neighbours(
  { page, pages, after: onward }: Rows,
  { after }: Place,
): { previous: Place | undefined; next: Place | undefined } {
  const known = after === undefined ? undefined : cameFrom().get(after);
  const previous = known ?? { after: undefined, page: Math.min(page - 1, Math.max(pages, 1)) };
  return {
    previous: page > 1 ? previous : undefined,
    // Without a cursor, the list is of active and inactive connections, and has numbers only.
    next: page < pages ? { after: onward, page: page + 1 } : undefined,
  };
}
