import { useInfiniteQuery, useQueryClient } from "@tanstack/preact-query";
import { useSession } from "../session/session";

const KEYS_KEY = ["keys"];
const PAGE_SIZE = 100;

/** Loads the API keys, newest first. */
export function useKeys() {
  const { vault } = useSession();
  return useInfiniteQuery({
    queryKey: KEYS_KEY,
    queryFn: ({ pageParam, signal }) => vault.keys.page({ limit: PAGE_SIZE, before: pageParam }, { signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
  });
}

export function useInvalidateKeys() {
  const client = useQueryClient();
  return () => client.invalidateQueries({ queryKey: KEYS_KEY });
}
