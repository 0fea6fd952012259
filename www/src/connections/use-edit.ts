// Changes of one part of a connection: kept until they are saved, saved only over the version that they were made of, and
// merged with what somebody else saved meanwhile.
import { NotFoundError, PreconditionError, type Connection, type ConnectorVault } from "connector-vault/slim";
import { useEffect, useState } from "preact/hooks";
import { useSingleFlight } from "../components/use-single-flight";
import { useSession } from "../session/session";
import { dropDraft, findDraft, useDraft, type Draft } from "./drafts";
import { useConnectionCache } from "./cache";

/** Others may be faster this often before that is reported as a failure. */
const MAX_TRIES = 3;

/** A part of a connection that is changed by a call of its own. */
export interface EditablePart<Values> {
  name: string;
  valuesOf: (connection: Connection) => Values;
  isEqual: (some: Values, others: Values) => boolean;
  /** Saves the values over just that version of the connection. */
  save: (vault: ConnectorVault, over: Connection, values: Values) => Promise<Connection>;
  /** What becomes of mine when theirs are there already; undefined when a person has to choose. */
  merge: (base: Values, theirs: Values, mine: Values) => Values | undefined;
}

/** Two have changed the same: what they made of it, and of what. */
export interface Conflict<Values> {
  base: Connection;
  theirs: Connection;
  mine: Values;
}

interface SaveRequest<Values> {
  values: Values;
  base: Connection;
  /** The draft that is being saved. */
  draft: Draft<Values> | undefined;
}

type SaveResult<Values> = { stored: Connection } | { conflict: Conflict<Values> };

/** Saves values over a version, or over a later one where both can be merged. */
async function saveMerging<Values>(
  vault: ConnectorVault,
  part: EditablePart<Values>,
  { values, base: over }: SaveRequest<Values>,
): Promise<SaveResult<Values>> {
  let base = over;
  let mine = values;
  for (let tries = 1; ; tries += 1) {
    try {
      return { stored: await part.save(vault, base, mine) };
    } catch (error) {
      if (!(error instanceof PreconditionError) || tries >= MAX_TRIES) throw error;
    }
    const theirs = await vault.connections.get(base.id);
    const theirValues = part.valuesOf(theirs);
    // Both wanted the same.
    if (part.isEqual(theirValues, mine)) return { stored: theirs };
    const merged = part.merge(part.valuesOf(base), theirValues, mine);
    if (merged === undefined) return { conflict: { base, theirs, mine } };
    [base, mine] = [theirs, merged];
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
    mutationFn: (asked) => saveMerging(vault, part, asked),
    onSuccess: (saved, { draft: from }) => {
      if ("conflict" in saved) return setConflict(saved.conflict);
      // What was changed while it was being saved stays, over what is there now.
      const later = findDraft<Values>(connection.id, part.name);
      change(later === from || !later ? undefined : { ...later, base: saved.stored });
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
  // A reload or a closed tab would lose what is not saved.
  useEffect(() => {
    if (!isKept) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener("beforeunload", warn);
    return () => removeEventListener("beforeunload", warn);
  }, [isKept]);

  return {
    values: draft.values,
    base: draft.base,
    isChanged: isKept,
    isBusy: saving.isPending,
    error: saving.error instanceof NotFoundError ? null : saving.error,
    conflict: conflict,
    edit: (values: Values) => {
      if (saving.isError) saving.reset();
      change({ base: draft.base, values });
    },
    save: (values: Values = draft.values, over: Connection = draft.base) =>
      saving.run({ values, base: over, draft: findDraft(connection.id, part.name) }),
    /** Gives up what was changed. Returns false while it is being saved: that can't be called back. */
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
