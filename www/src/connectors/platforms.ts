// What the views know of all platforms: names and logos for connections, a search among them, categories for the filter. The
// whole list is read once, after what the view itself asked for.
import { useQuery } from "@tanstack/preact-query";
import type { Connector } from "connector-vault/slim";
import { CATALOG_FRESH_MS, useSession } from "../session/session";
import { searchOf } from "./platform-search";

const ROWS_AT_A_TIME = 500;

export interface Platforms {
  /** By the platform's identifier. */
  byName: Map<string, Connector>;
  /** The platforms whose name or identifier has all words of a text, the best match first. */
  find: (text: string) => readonly Connector[];
  /** Categories in alphabetical order, with the number of their connectors. */
  categories: [category: string, connectors: number][];
}

function summed(connectors: Connector[]): Platforms {
  const counts = new Map<string, number>();
  for (const { category } of connectors) counts.set(category, (counts.get(category) ?? 0) + 1);
  return {
    byName: new Map(connectors.map((connector) => [connector.platform, connector])),
    find: searchOf(connectors),
    categories: [...counts].sort(([a], [b]) => a.localeCompare(b, "en")),
  };
}

/** The platform that a text names in full: by its identifier, in any case. */
export const platformOf = (platforms: Platforms | undefined, text: string) =>
  platforms?.byName.get(text.trim().toLowerCase());

/** All platforms of the catalog; undefined until they are there. `when`: what the view itself asks for comes first. */
export function usePlatforms(when = true): Platforms | undefined {
  const { vault, may } = useSession();
  const { data } = useQuery({
    queryKey: ["platforms"],
    queryFn: async ({ signal }) => {
      const rows: Connector[] = [];
      for await (const connector of vault.connectors.list({ limit: ROWS_AT_A_TIME }, { signal })) rows.push(connector);
      return summed(rows);
    },
    enabled: when && may("catalog:read"),
    staleTime: CATALOG_FRESH_MS,
    gcTime: Infinity,
    // It holds a function, which nothing can compare.
    structuralSharing: false,
  });
  return data;
}
