import { useInfiniteQuery, useQuery } from "@tanstack/preact-query";
import type { Connection, Connector } from "connector-vault/slim";
import { CATALOG_FRESH_MS, useSession } from "../session/session";

const PAGE_SIZE = 50;

/** Loads the end user's active or inactive connections, page by page. */
export function useOwnConnections(active: boolean) {
  const { vault } = useSession();
  return useInfiniteQuery({
    queryKey: ["connections", "own", active],
    queryFn: async ({ pageParam, signal }) => {
      const { rows, total, after } = await vault.connections.list(
        { active, include: "account", limit: PAGE_SIZE, ...(pageParam && { after: pageParam }) },
        { signal },
      );
      return { rows, total, after };
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ after }) => after,
  });
}

/** Returns the connector of a connection. Undefined until it is loaded, or if it is not in the catalog. */
export function usePlatform({ platform }: Connection): Connector | undefined {
  const { vault, may } = useSession();
  const { data } = useQuery({
    queryKey: ["connector", platform],
    queryFn: async ({ signal }) => (await vault.connectors.list({ platform }, { signal })).rows,
    enabled: may("catalog:read"),
    staleTime: CATALOG_FRESH_MS,
  });
  return data?.[0];
}
