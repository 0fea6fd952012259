// Changes of a connection that are not saved yet. They outlive the panel, which goes when a key expires.
import type { Connection } from "connector-vault/slim";
import { useCallback, useState } from "preact/hooks";
import { untilSignOut } from "../session/store";

export interface Draft<Values> {
  /** The connection that is being changed, as it was read. */
  base: Connection;
  values: Values;
}

/** By the connection's id and the name of what is changed. */
const drafts = untilSignOut(() => new Map<string, Map<string, Draft<unknown>>>());

/** What is kept: the very object, until something is changed. */
export const findDraft = <Values>(id: string, part: string) => drafts().get(id)?.get(part) as Draft<Values> | undefined;
export const hasDraft = (id: string | undefined) => id !== undefined && drafts().has(id);
/** Drops what is kept of a connection. */
export const dropDraft = (id: string) => void drafts().delete(id);

function saveDraft(id: string, part: string, draft: Draft<unknown> | undefined): void {
  const parts = drafts().get(id) ?? new Map<string, Draft<unknown>>();
  if (draft) parts.set(part, draft);
  else parts.delete(part);
  if (parts.size > 0) drafts().set(id, parts);
  else drafts().delete(id);
}

/** The draft of a part of a connection; there is one only while `isChanged` says so of its values. */
export function useDraft<Values>(
  connection: Connection,
  part: string,
  valuesOf: (connection: Connection) => Values,
  isChanged: (draft: Draft<Values>) => boolean,
) {
  const [, setTick] = useState(0);
  const { id } = connection;
  const saved = findDraft<Values>(id, part);
  const draft: Draft<Values> = saved ?? { base: connection, values: valuesOf(connection) };
  const change = useCallback(
    (next: Draft<Values> | undefined) => {
      saveDraft(id, part, next && isChanged(next) ? next : undefined);
      setTick((times) => times + 1);
    },
    [id, part],
  );
  return { draft, isKept: saved !== undefined, change };
}
