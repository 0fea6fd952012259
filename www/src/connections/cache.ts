// The cached connections and lists, which all views share.
import { useQuery, useQueryClient } from "@tanstack/preact-query";
import type { Connection } from "connector-vault/slim";
import { useCallback } from "preact/hooks";
import { useSession } from "../session/session";
import type { ConnectionPage } from "./use-connections";

const LISTS_KEY = ["connections", "list"];
const connectionKey = (id: string) => ["connection", id];

/** Loads a connection. Cached lists provide the initial data. */
export function useConnection(id: string) {
  const { vault } = useSession();
  const client = useQueryClient();
  const newestCachedRow = () =>
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
    initialData: () => newestCachedRow()?.row,
    initialDataUpdatedAt: () => newestCachedRow()?.at,
  });
}

/** Functions that update the cached connection and lists after a change. */
export function useConnectionCache() {
  const client = useQueryClient();
  const refresh = useCallback(() => {
    for (const keyPrefix of ["connections", "summary"]) void client.invalidateQueries({ queryKey: [keyPrefix] });
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
      // Cancel requests from before the change, which may return the old connection.
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
  return { update, remove };
}
