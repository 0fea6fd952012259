// Unsaved changes of connections. Stored outside the panel, which unmounts when a key expires.
import type { Connection } from "connector-vault/slim";
import { useCallback, useState } from "preact/hooks";
import { untilSignOut } from "../session/store";

export interface Draft<Values> {
  /** The version that is being edited. */
  base: Connection;
  values: Values;
}

/** Drafts by connection id and name of the edited part. */
const drafts = untilSignOut(() => new Map<string, Map<string, Draft<unknown>>>());

/** Returns the draft of a part of a connection, if there is one: the same object until the draft changes. */
export const findDraft = <Values>(id: string, part: string) => drafts().get(id)?.get(part) as Draft<Values> | undefined;
export const hasDraft = (id: string | undefined) => id !== undefined && drafts().has(id);
export const dropDraft = (id: string) => void drafts().delete(id);

function saveDraft(id: string, part: string, draft: Draft<unknown> | undefined): void {
  const parts = drafts().get(id) ?? new Map<string, Draft<unknown>>();
  if (draft) parts.set(part, draft);
  else parts.delete(part);
  if (parts.size > 0) drafts().set(id, parts);
  else drafts().delete(id);
}

/** The draft of a part of a connection. Stored only while `isChanged` returns true. */
export function useDraft<Values>(
  connection: Connection,
  part: string,
  getValues: (connection: Connection) => Values,
  isChanged: (draft: Draft<Values>) => boolean,
) {
  const [, setTick] = useState(0);
  const { id } = connection;
  const savedDraft = findDraft<Values>(id, part);
  const draft: Draft<Values> = savedDraft ?? { base: connection, values: getValues(connection) };
  const change = useCallback(
    (next: Draft<Values> | undefined) => {
      saveDraft(id, part, next && isChanged(next) ? next : undefined);
      setTick((count) => count + 1);
    },
    [id, part],
  );
  return { draft, isKept: savedDraft !== undefined, change };
}
