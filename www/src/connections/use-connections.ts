// Queries for the list of connections.
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
import { PAGE_SIZE, type PagePosition } from "./filters";

export type ConnectionPage = Pick<Page<ConnectionWithAccount>, "rows" | "total" | "pages" | "page" | "after">;

const WITH_ACCOUNT = { include: "account" } as const;

/** The position of the previous page by cursor, because cursors only lead forward. */
const previousPositions = untilSignOut(() => new Map<string, PagePosition>());

const hasFaultAt = (error: unknown, name: string) =>
  error instanceof ValidationError && error.errors.some(({ parameter }) => parameter === name);

/** Whether a request failed because its cursor is invalid: it belongs to another list or key, or was modified. */
export const isInvalidCursor = (error: unknown) => hasFaultAt(error, "after");

/** Whether a request failed because its page number is too high, so that only cursors can reach the page. */
export const isPageTooFar = (error: unknown) => hasFaultAt(error, "page");

async function readPage(
  vault: ConnectorVault,
  filters: ConnectionFilters,
  { after, page }: PagePosition,
  signal: AbortSignal,
): Promise<ConnectionPage> {
  const list = (position: ConnectionFilters) =>
    vault.connections.list({ ...filters, limit: PAGE_SIZE, ...position, ...WITH_ACCOUNT }, { signal });
  const result =
    after === undefined
      ? await list({ page })
      : await list({ after }).catch((error: unknown) => {
          // Fall back to the page number, which is slower but also works with another key.
          if (page === undefined || !isInvalidCursor(error)) throw error;
          return list({ page });
        });
  const { rows, total, pages, page: number, after: nextCursor } = result;
  if (nextCursor !== undefined) previousPositions().set(nextCursor, { after, page: number });
  return { rows, total, pages, page: number, after: nextCursor };
}

/** Loads a page of a list in which the inactive connections follow the active ones. */
async function readWithInactive(
  vault: ConnectorVault,
  filters: ConnectionFilters,
  page: number,
  signal: AbortSignal,
): Promise<ConnectionPage> {
  const list = (active: boolean, position: ConnectionFilters) =>
    vault.connections.list({ ...filters, active, ...position, ...WITH_ACCOUNT }, { signal });
  const active = await list(true, { limit: PAGE_SIZE, page });
  const inactivePage = page - active.pages;
  const inactive = await list(false, inactivePage > 0 ? { limit: PAGE_SIZE, page: inactivePage } : { limit: 1 });
  return {
    rows: inactivePage > 0 ? inactive.rows : active.rows,
    total: active.total + inactive.total,
    pages: active.pages + Math.ceil(inactive.total / PAGE_SIZE),
    page,
    after: undefined,
  };
}

/** Loads the rows at a position. While the filters are invalid, the previous rows stay visible. */
export function useConnections(
  filters: ConnectionFilters,
  position: PagePosition,
  isValid: boolean,
  withInactive = false,
) {
  const { vault } = useSession();
  return useQuery({
    queryKey: ["connections", "list", filters, position, withInactive],
    queryFn: ({ signal }) =>
      withInactive
        ? readWithInactive(vault, filters, position.page ?? 1, signal)
        : readPage(vault, filters, position, signal),
    placeholderData: keepPreviousData,
    enabled: isValid,
  });
}

export function adjacentPositions(
  { page, pages, after: nextCursor }: ConnectionPage,
  { after }: PagePosition,
): { previous: PagePosition | undefined; next: PagePosition | undefined } {
  const previousPosition = after === undefined ? undefined : previousPositions().get(after);
  const previous = previousPosition ?? { after: undefined, page: Math.min(page - 1, Math.max(pages, 1)) };
  return {
    previous: page > 1 ? previous : undefined,
    // Without a cursor, this is the combined list of active and inactive connections, which has only page numbers.
    next: page < pages ? { after: nextCursor, page: page + 1 } : undefined,
  };
}
