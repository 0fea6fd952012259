// What the views hold of connections, and how they learn of changes.
import { useQuery, useQueryClient } from "@tanstack/preact-query";
import type { Connection } from "connector-vault/slim";
import { useCallback } from "preact/hooks";
import { useSession } from "../session/session";
import type { ConnectionPage } from "./use-connections";

const LISTS_KEY = ["connections", "list"];
const connectionKey = (id: string) => ["connection", id];

/** One connection; a list that has it just now lends its row. */
export function useConnection(id: string) {
  const { vault } = useSession();
  const client = useQueryClient();
  const inList = () =>
    client
      .getQueryCache()
      .findAll({ queryKey: LISTS_KEY })
      .map(({ state }) => ({
        at: state.dataUpdatedAt,
        row: (state.data as ConnectionPage | undefined)?.rows.find((row) => row.id === id),
      }))
      .filter(({ row }) => row !== undefined)
      .sort((a, b) => b.at - a.at)[0];
  return useQuery({
    queryKey: connectionKey(id),
    queryFn: ({ signal }) => vault.connections.get(id, { signal }),
    initialData: () => inList()?.row,
    initialDataUpdatedAt: () => inList()?.at,
  });
}

/** Tells all views that a connection is otherwise than before. */
export function useConnectionCache() {
  const client = useQueryClient();
  const refresh = useCallback(() => {
    for (const what of ["connections", "summary"]) void client.invalidateQueries({ queryKey: [what] });
  }, [client]);
  const update = useCallback(
    (connection: Connection) => {
      const queryKey = connectionKey(connection.id);
      const write = () => {
        client.setQueryData(queryKey, connection);
        client.setQueriesData<ConnectionPage>(
          { queryKey: LISTS_KEY },
          (page) =>
            page && {
              ...page,
              rows: page.rows.map((row) => (row.id === connection.id ? { ...row, ...connection } : row)),
            },
        );
        refresh();
      };
      // What was asked before may be answered after, and would bring back what was there before.
      if (client.isFetching({ queryKey }) > 0) void client.cancelQueries({ queryKey }).then(write);
      else write();
    },
    [client, refresh],
  );
  const remove = useCallback(
    (id: string) => {
      client.removeQueries({ queryKey: connectionKey(id) });
      refresh();
    },
    [client, refresh],
  );
  return { update: update, remove: remove };
}
