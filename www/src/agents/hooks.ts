// Queries for agent sign-in and grants.
import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/preact-query";
import { NotFoundError } from "connector-vault/slim";
import { useSession } from "../session/session";

const AGENTS_KEY = ["agents"];
const PAGE_SIZE = 50;

/**
 * Loads the sign-in configuration, null if sign-in is disabled, and the redirect URI for an OpenID provider, if known.
 */
export function useSignIn() {
  const { vault } = useSession();
  return useQuery({
    queryKey: [...AGENTS_KEY, "sign-in"],
    queryFn: async ({ signal }) => {
      try {
        const signIn = await vault.agentSignIn.get({ signal });
        return { signIn, redirectUri: signIn.redirectUri };
      } catch (error) {
        if (error instanceof NotFoundError) return { signIn: null, redirectUri: error.redirectUri };
        throw error;
      }
    },
  });
}

/** Loads grants, newest first. An empty `identity` means all identities. */
export function useGrants(identity: string) {
  const { vault } = useSession();
  const filter = identity === "" ? {} : { identity };
  return useInfiniteQuery({
    queryKey: [...AGENTS_KEY, "grants", identity],
    queryFn: ({ pageParam, signal }) =>
      vault.agentGrants.list({ limit: PAGE_SIZE, before: pageParam, ...filter }, { signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
  });
}

export function useInvalidateAgents() {
  const client = useQueryClient();
  return () => client.invalidateQueries({ queryKey: AGENTS_KEY });
}
