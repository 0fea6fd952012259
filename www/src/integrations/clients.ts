// The OAuth clients of the environment, and the platforms that still need one.
import { useQuery, useQueryClient } from "@tanstack/preact-query";
import type { Connector, List, OauthClient } from "connector-vault/slim";
import { CATALOG_FRESH_MS, useSession } from "../session/session";

const ROWS_AT_A_TIME = 500;
const CLIENTS = ["oauth-clients"];

async function all<Row>(list: List<Row>): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const row of list) rows.push(row);
  return rows;
}

/** All OAuth clients, by platform. */
export function useClients(isAsked = true) {
  const { vault } = useSession();
  return useQuery<OauthClient[]>({
    queryKey: CLIENTS,
    enabled: isAsked,
    queryFn: ({ signal }) => all(vault.oauthClients.list({ limit: ROWS_AT_A_TIME }, { signal })),
  });
}

/** Tells the views that an OAuth client is otherwise than before. */
export function useClientsChanged() {
  const client = useQueryClient();
  return () => client.invalidateQueries({ queryKey: CLIENTS });
}

/** The connectors that users may choose, and that need an OAuth client. */
export function useEnabled() {
  const { vault, may } = useSession();
  return useQuery<Connector[]>({
    queryKey: ["connectors", "enabled"],
    queryFn: async ({ signal }) => {
      const enabled = await all(vault.connectors.list({ authkit: true, limit: ROWS_AT_A_TIME }, { signal }));
      return enabled.filter(({ oauth }) => oauth);
    },
    enabled: may("catalog:read"),
    staleTime: CATALOG_FRESH_MS,
  });
}

/** The address of the form for a platform's client. */
export const clientHref = (platform: string) => `/integrations?set=${encodeURIComponent(platform)}`;
