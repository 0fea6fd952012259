// What the views know of all platforms: names and logos for connections, a search among them, categories for the filter. The
// whole list is read once, after what the view itself asked for.
import { useQuery } from "@tanstack/preact-query";
import type { Connector } from "connector-vault/slim";
import { CATALOG_FRESH_MS, useSession } from "../session/session";
import { type Family, familiesOf } from "./families";
import { createSearch } from "./platform-search";

const PAGE_SIZE = 500;

export interface Platforms {
  /** By the platform's identifier. */
  byName: Map<string, Connector>;
  /** The platforms whose name or identifier has all words of a text, the best match first. */
  find: (text: string) => readonly Connector[];
  /** Categories in alphabetical order, with the number of their connectors. */
  categories: [category: string, connectors: number][];
  /** The families of many connectors, by name. */
  families: readonly Family[];
  /** The connectors of no family, well-known ones first. */
  others: readonly Connector[];
}

function indexPlatforms(connectors: Connector[]): Platforms {
  const counts = new Map<string, number>();
  for (const { category } of connectors) counts.set(category, (counts.get(category) ?? 0) + 1);
  return {
    byName: new Map(connectors.map((connector) => [connector.platform, connector])),
    find: createSearch(connectors),
    categories: [...counts].sort(([a], [b]) => a.localeCompare(b, "en")),
    ...familiesOf(connectors),
  };
}

/** The platform that a text names in full: by its identifier, in any case. */
export const findPlatform = (platforms: Platforms | undefined, text: string) =>
  platforms?.byName.get(text.trim().toLowerCase());

/** All platforms of the catalog; undefined until they are there. `when`: what the view itself asks for comes first. */
export const usePlatforms = (isEnabled = true): Platforms | undefined => usePlatformsQuery(isEnabled).data;

/** The same for a view that needs them and says so when there are none. */
export function usePlatformsQuery(isEnabled = true) {
  const { vault, may } = useSession();
  return useQuery({
    queryKey: ["platforms"],
    queryFn: async ({ signal }) => {
      const list = (page: number) => vault.connectors.list({ limit: PAGE_SIZE, page }, { signal });
      const first = await list(1);
      const others = await Promise.all(Array.from({ length: Math.max(first.pages - 1, 0) }, (_, at) => list(at + 2)));
      return indexPlatforms([first, ...others].flatMap(({ rows }) => rows));
    },
    enabled: isEnabled && may("catalog:read"),
    staleTime: CATALOG_FRESH_MS,
    gcTime: Infinity,
    // It holds a function, which nothing can compare.
    structuralSharing: false,
  });
}
