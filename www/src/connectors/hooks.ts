// Queries for one connector or action.
import { useQuery } from "@tanstack/preact-query";
import { NotFoundError } from "connector-vault/slim";
import { CATALOG_FRESH_MS, useSession } from "../session/session";

/** An unknown name in the URL, and similar names that exist. */
interface UnknownName {
  code: string;
  suggestions: readonly string[];
}

function toUnknownName(error: unknown): UnknownName {
  if (error instanceof NotFoundError) return { code: error.code, suggestions: error.suggestions };
  throw error;
}

export function useConnector(platform: string) {
  const { vault } = useSession();
  return useQuery({
    queryKey: ["connector", platform],
    queryFn: ({ signal }) => vault.connectors.get(platform, { signal }).catch(toUnknownName),
    staleTime: CATALOG_FRESH_MS,
  });
}

export function useAction(platform: string, key: string) {
  const { vault } = useSession();
  return useQuery({
    queryKey: ["action", platform, key],
    queryFn: ({ signal }) => vault.actions.get(platform, key, {}, { signal }).catch(toUnknownName),
    staleTime: CATALOG_FRESH_MS,
  });
}

/** Loads the responses of an action. Separate, because they are larger than all its other data. */
export function useResponses(platform: string, key: string, isEnabled: boolean) {
  const { vault } = useSession();
  return useQuery({
    queryKey: ["action", platform, key, "responses"],
    queryFn: async ({ signal }) =>
      (await vault.actions.get(platform, key, { include: "responses" }, { signal })).responses,
    enabled: isEnabled,
    staleTime: CATALOG_FRESH_MS,
  });
}
