// Loads all platforms once, for names and logos of connections, for the search, and for categories.
import { useQuery } from "@tanstack/preact-query";
import type { Connector } from "connector-vault/slim";
import { CATALOG_FRESH_MS, useSession } from "../session/session";
import { type Family, groupByFamily } from "./families";
import { createSearch } from "./platform-search";

const PAGE_SIZE = 500;

export interface Platforms {
  /** The connectors by platform identifier. */
  byName: Map<string, Connector>;
  /** Returns the connectors that match a query, best first. */
  find: (text: string) => readonly Connector[];
  /** In alphabetical order, each with its number of connectors. */
  categories: [category: string, connectors: number][];
  families: readonly Family[];
  /** The connectors without a family, well-known ones first. */
  others: readonly Connector[];
}

function indexPlatforms(connectors: Connector[]): Platforms {
  const counts = new Map<string, number>();
  for (const { category } of connectors) counts.set(category, (counts.get(category) ?? 0) + 1);
  return {
    byName: new Map(connectors.map((connector) => [connector.platform, connector])),
    find: createSearch(connectors),
    categories: [...counts].sort(([a], [b]) => a.localeCompare(b, "en")),
    ...groupByFamily(connectors),
  };
}

/** Finds the platform with this identifier, ignoring case. */
export const findPlatform = (platforms: Platforms | undefined, text: string) =>
  platforms?.byName.get(text.trim().toLowerCase());

/**
 * Returns all platforms; undefined until they are loaded. `isEnabled` can delay the request until the view has loaded.
 */
export const usePlatforms = (isEnabled = true): Platforms | undefined => usePlatformsQuery(isEnabled).data;

export function usePlatformsQuery(isEnabled = true) {
  const { vault, may } = useSession();
  return useQuery({
    queryKey: ["platforms"],
    queryFn: async ({ signal }) => {
      const list = (page: number) => vault.connectors.list({ limit: PAGE_SIZE, page }, { signal });
      const firstPage = await list(1);
      const otherPages = await Promise.all(
        Array.from({ length: Math.max(firstPage.pages - 1, 0) }, (_, index) => list(index + 2)),
      );
      return indexPlatforms([firstPage, ...otherPages].flatMap(({ rows }) => rows));
    },
    enabled: isEnabled && may("catalog:read"),
    staleTime: CATALOG_FRESH_MS,
    gcTime: Infinity,
    // The query library can't compare the function in the data.
    structuralSharing: false,
  });
}
