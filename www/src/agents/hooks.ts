// How agents sign in, and what users granted to them.
import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/preact-query";
import { NotFoundError } from "connector-vault/slim";
import { useSession } from "../session/session";

const AGENTS_KEY = ["agents"];
const ROWS = 50;

/** Who authenticates the users of agents; null if sign-in is off. */
export function useSignIn() {
  const { vault } = useSession();
  return useQuery({
    queryKey: [...AGENTS_KEY, "sign-in"],
    queryFn: async ({ signal }) => {
      try {
        return await vault.agentSignIn.get({ signal });
      } catch (error) {
        if (error instanceof NotFoundError) return null;
        throw error;
      }
    },
  });
}

/** The grants, newest first, page by page; of one identity, or of all if it is empty. */
export function useGrants(identity: string) {
  const { vault } = useSession();
  const only = identity === "" ? {} : { identity };
  return useInfiniteQuery({
    queryKey: [...AGENTS_KEY, "grants", identity],
    queryFn: ({ pageParam, signal }) => vault.agentGrants.list({ limit: ROWS, before: pageParam, ...only }, { signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
  });
}

/** Tells the views that a sign-in or a grant is otherwise than before. */
export function useInvalidateAgents() {
  const client = useQueryClient();
  return () => client.invalidateQueries({ queryKey: AGENTS_KEY });
}
