// Edits one part of a connection. Stores changes until they are saved, saves them only if the connection has not
// changed in the meantime, and otherwise merges both changes.
import { NotFoundError, PreconditionError, type Connection, type ConnectorVault } from "connector-vault/slim";
import { useEffect, useState } from "preact/hooks";
import { useSingleFlight } from "../components/use-single-flight";
import { useSession } from "../session/session";
import { useConnectionCache } from "./cache";
import { dropDraft, findDraft, useDraft, type Draft } from "./drafts";

/** Maximum number of times to save, each after another concurrent change. */
const MAX_TRIES = 3;

/** A part of a connection that has its own API call to update it. */
export interface EditablePart<Values> {
  name: string;
  getValues: (connection: Connection) => Values;
  isEqual: (a: Values, b: Values) => boolean;
  /** Saves the values with `If-Match` for that version. */
  save: (vault: ConnectorVault, version: Connection, values: Values) => Promise<Connection>;
  /** Merges the values with concurrent changes. Returns undefined if the user must choose. */
  merge: (base: Values, theirs: Values, own: Values) => Values | undefined;
}

/** Two concurrent changes of the same values. */
export interface Conflict<Values> {
  base: Connection;
  theirs: Connection;
  mine: Values;
}

interface SaveRequest<Values> {
  values: Values;
  base: Connection;
  draft: Draft<Values> | undefined;
}

type SaveResult<Values> = { stored: Connection } | { conflict: Conflict<Values> };

/** Saves the values. If the connection has changed, merges both changes if possible. */
async function saveMerging<Values>(
  vault: ConnectorVault,
  part: EditablePart<Values>,
  request: SaveRequest<Values>,
): Promise<SaveResult<Values>> {
  let { base, values: own } = request;
  for (let tries = 1; ; tries += 1) {
    try {
      return { stored: await part.save(vault, base, own) };
    } catch (error) {
      if (!(error instanceof PreconditionError) || tries >= MAX_TRIES) throw error;
    }
    const theirs = await vault.connections.get(base.id);
    const theirValues = part.getValues(theirs);
    // Both sides made the same change, so there is nothing to save.
    if (part.isEqual(theirValues, own)) return { stored: theirs };
    const merged = part.merge(part.getValues(base), theirValues, own);
    if (merged === undefined) return { conflict: { base, theirs, mine: own } };
    [base, own] = [theirs, merged];
  }
}

export function useEdit<Values>(
  connection: Connection,
  part: EditablePart<Values>,
  { onSaved, onGone }: { onSaved: (connection: Connection) => void; onGone: () => void },
) {
  const { vault } = useSession();
  const { update } = useConnectionCache();
  const { draft, isKept, change } = useDraft<Values>(
    connection,
    part.name,
    part.getValues,
    ({ base, values }) => !part.isEqual(values, part.getValues(base)),
  );
  const [conflict, setConflict] = useState<Conflict<Values>>();

  const saving = useSingleFlight<SaveResult<Values>, SaveRequest<Values>>({
    mutationFn: (request) => saveMerging(vault, part, request),
    onSuccess: (saved, { draft: savedDraft }) => {
      if ("conflict" in saved) return setConflict(saved.conflict);
      // Keep changes that the user made during the save. Their base is the saved version.
      const latestDraft = findDraft<Values>(connection.id, part.name);
      change(latestDraft === savedDraft || !latestDraft ? undefined : { ...latestDraft, base: saved.stored });
      setConflict(undefined);
      update(saved.stored);
      onSaved(saved.stored);
    },
    onError: (error) => {
      if (!(error instanceof NotFoundError)) return;
      dropDraft(connection.id);
      onGone();
    },
  });
  // Warn before a reload or a closed tab loses unsaved changes.
  useEffect(() => {
    if (!isKept) return;
    const preventUnload = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener("beforeunload", preventUnload);
    return () => removeEventListener("beforeunload", preventUnload);
  }, [isKept]);

  return {
    values: draft.values,
    base: draft.base,
    isChanged: isKept,
    isBusy: saving.isPending,
    error: saving.error instanceof NotFoundError ? null : saving.error,
    conflict,
    edit: (values: Values) => {
      if (saving.isError) saving.reset();
      change({ base: draft.base, values });
    },
    save: (values: Values = draft.values, base: Connection = draft.base) =>
      saving.run({ values, base, draft: findDraft(connection.id, part.name) }),
    /** Discards the draft. Returns false during a save, because a save can't be cancelled. */
    discard: (current?: Connection) => {
      if (saving.isInFlight()) return false;
      saving.reset();
      change(undefined);
      setConflict(undefined);
      if (current) update(current);
      return true;
    },
  };
}
