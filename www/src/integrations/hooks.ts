// Queries for OAuth clients, and for connectors that need a client.
import { useQuery, useQueryClient } from "@tanstack/preact-query";
import type { Connector, List, OauthClient } from "connector-vault/slim";
import { CATALOG_FRESH_MS, useSession } from "../session/session";

const PAGE_SIZE = 500;
const CLIENTS_KEY = ["oauth-clients"];

async function collectAll<Row>(list: List<Row>): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const row of list) rows.push(row);
  return rows;
}

export function useClients(isEnabled = true) {
  const { vault } = useSession();
  return useQuery<OauthClient[]>({
    queryKey: CLIENTS_KEY,
    enabled: isEnabled,
    queryFn: async ({ signal }) => {
      const clients = await collectAll(vault.oauthClients.list({ limit: PAGE_SIZE }, { signal }));
      // Sort the default client first among the clients of a platform.
      const isNamed = ({ name }: OauthClient) => Number(name !== DEFAULT_CLIENT);
      return clients.sort((a, b) => a.platform.localeCompare(b.platform) || isNamed(a) - isNamed(b));
    },
  });
}

export function useInvalidateClients() {
  const client = useQueryClient();
  return () => client.invalidateQueries({ queryKey: CLIENTS_KEY });
}

/** Loads the connectors that are enabled for users and need an OAuth client. */
export function useConnectorsNeedingClient() {
  const { vault, may } = useSession();
  return useQuery<Connector[]>({
    queryKey: ["connectors", "needing-client"],
    queryFn: async ({ signal }) => {
      const connectors = await collectAll(vault.connectors.list({ authkit: true, limit: PAGE_SIZE }, { signal }));
      return connectors.filter(({ oauth }) => oauth);
    },
    enabled: may("catalog:read"),
    staleTime: CATALOG_FRESH_MS,
  });
}

/** The name of a platform's default client. */
export const DEFAULT_CLIENT = "default";

/** Returns the URL of the form for a platform's client. */
export const clientHref = (platform: string, name = DEFAULT_CLIENT) => {
  const query = `set=${encodeURIComponent(platform)}`;
  return `/integrations?${name === DEFAULT_CLIENT ? query : `${query}&client=${encodeURIComponent(name)}`}`;
};

/** Names a client in a sentence. */
export const describeClient = (name: string, platformName: string) =>
  name === DEFAULT_CLIENT ? `OAuth client for ${platformName}` : `OAuth client “${name}” for ${platformName}`;
