// Editing one part of a connection: changes are kept until saved, saved only over the version they are based on, and
// merged with concurrent changes.
import { NotFoundError, PreconditionError, type Connection, type ConnectorVault } from "connector-vault/slim";
import { useEffect, useState } from "preact/hooks";
import { useSingleFlight } from "../components/use-single-flight";
import { useSession } from "../session/session";
import { useConnectionCache } from "./cache";
import { dropDraft, findDraft, useDraft, type Draft } from "./drafts";

/** How many concurrent changes are tolerated before the save fails. */
const MAX_TRIES = 3;

/** A part of a connection that has its own update call. */
export interface EditablePart<Values> {
  name: string;
  valuesOf: (connection: Connection) => Values;
  isEqual: (a: Values, b: Values) => boolean;
  /** Saves the values with `If-Match` for that version. */
  save: (vault: ConnectorVault, version: Connection, values: Values) => Promise<Connection>;
  /** Merges with concurrent changes. Undefined if the user must choose. */
  merge: (base: Values, theirs: Values, own: Values) => Values | undefined;
}

/** Concurrent changes of the same values. */
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

/** Saves the values, merging with a later version where possible. */
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
    const theirValues = part.valuesOf(theirs);
    // Both sides made the same change.
    if (part.isEqual(theirValues, own)) return { stored: theirs };
    const merged = part.merge(part.valuesOf(base), theirValues, own);
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
    part.valuesOf,
    ({ base, values }) => !part.isEqual(values, part.valuesOf(base)),
  );
  const [conflict, setConflict] = useState<Conflict<Values>>();

  const saving = useSingleFlight<SaveResult<Values>, SaveRequest<Values>>({
    mutationFn: (request) => saveMerging(vault, part, request),
    onSuccess: (saved, { draft: savedDraft }) => {
      if ("conflict" in saved) return setConflict(saved.conflict);
      // Keep changes that were made during the save, based on the saved version.
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
  // A reload or closed tab would lose unsaved changes.
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
    /** Discards the draft. Returns false during a save, which can't be cancelled. */
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
