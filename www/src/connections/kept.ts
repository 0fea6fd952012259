// What the views hold of connections, and how they learn of changes.
import { useQuery, useQueryClient } from "@tanstack/preact-query";
import type { Connection } from "connector-vault/slim";
import { useCallback } from "preact/hooks";
import { useSession } from "../session/session";
import type { Rows } from "./list";

const LISTS = ["connections", "list"];
const keyOf = (id: string) => ["connection", id];

/** One connection; a list that has it just now lends its row. */
export function useConnection(id: string) {
  const { vault } = useSession();
  const client = useQueryClient();
  const inList = () =>
    client
      .getQueryCache()
      .findAll({ queryKey: LISTS })
      .map(({ state }) => ({
        at: state.dataUpdatedAt,
        row: (state.data as Rows | undefined)?.rows.find((row) => row.id === id),
      }))
      .filter(({ row }) => row !== undefined)
      .sort((a, b) => b.at - a.at)[0];
  return useQuery({
    queryKey: keyOf(id),
    queryFn: ({ signal }) => vault.connections.get(id, { signal }),
    initialData: () => inList()?.row,
    initialDataUpdatedAt: () => inList()?.at,
  });
}

/** Tells all views that a connection is otherwise than before. */
export function useTold() {
  const client = useQueryClient();
  const refresh = useCallback(() => {
    for (const what of ["connections", "summary"]) void client.invalidateQueries({ queryKey: [what] });
  }, [client]);
  const stored = useCallback(
    (connection: Connection) => {
      const queryKey = keyOf(connection.id);
      const put = () => {
        client.setQueryData(queryKey, connection);
        client.setQueriesData<Rows>(
          { queryKey: LISTS },
          (page) =>
            page && {
              ...page,
              rows: page.rows.map((row) => (row.id === connection.id ? { ...row, ...connection } : row)),
            },
        );
        refresh();
      };
      // What was asked before may be answered after, and would bring back what was there before.
      if (client.isFetching({ queryKey }) > 0) void client.cancelQueries({ queryKey }).then(put);
      else put();
    },
    [client, refresh],
  );
  const removed = useCallback(
    (id: string) => {
      client.removeQueries({ queryKey: keyOf(id) });
      refresh();
    },
    [client, refresh],
  );
  return { stored, removed };
}
