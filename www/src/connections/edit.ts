// Changes of one part of a connection: kept until they are saved, saved only over the version that they were made of, and
// merged with what somebody else saved meanwhile.
import { NotFoundError, PreconditionError, type Connection, type ConnectorVault } from "connector-vault/slim";
import { useEffect, useState } from "preact/hooks";
import { useOnce } from "../parts/once";
import { useSession } from "../session/session";
import { dropDraft, keptDraft, useDraft, type Draft } from "./drafts";
import { useTold } from "./kept";

/** Others may be faster this often before that is reported as a failure. */
const TRIES = 3;

/** A part of a connection that is changed by a call of its own. */
export interface Part<Values> {
  name: string;
  valuesOf: (connection: Connection) => Values;
  isSame: (some: Values, others: Values) => boolean;
  /** Saves the values over just that version of the connection. */
  write: (vault: ConnectorVault, over: Connection, values: Values) => Promise<Connection>;
  /** What becomes of mine when theirs are there already; undefined when a person has to choose. */
  merge: (base: Values, theirs: Values, mine: Values) => Values | undefined;
}

/** Two have changed the same: what they made of it, and of what. */
export interface Clash<Values> {
  base: Connection;
  theirs: Connection;
  mine: Values;
}

interface Asked<Values> {
  values: Values;
  over: Connection;
  /** The draft that is being saved. */
  from: Draft<Values> | undefined;
}

type Saved<Values> = { stored: Connection } | { clash: Clash<Values> };

/** Saves values over a version, or over a later one where both can be merged. */
async function save<Values>(
  vault: ConnectorVault,
  part: Part<Values>,
  { values, over }: Asked<Values>,
): Promise<Saved<Values>> {
  let base = over;
  let mine = values;
  for (let tries = 1; ; tries += 1) {
    try {
      return { stored: await part.write(vault, base, mine) };
    } catch (error) {
      if (!(error instanceof PreconditionError) || tries >= TRIES) throw error;
    }
    const theirs = await vault.connections.get(base.id);
    const found = part.valuesOf(theirs);
    // Both wanted the same.
    if (part.isSame(found, mine)) return { stored: theirs };
    const merged = part.merge(part.valuesOf(base), found, mine);
    if (merged === undefined) return { clash: { base, theirs, mine } };
    [base, mine] = [theirs, merged];
  }
}

export function useEdit<Values>(
  connection: Connection,
  part: Part<Values>,
  { onSaved, onGone }: { onSaved: (connection: Connection) => void; onGone: () => void },
) {
  const { vault } = useSession();
  const { stored } = useTold();
  const { draft, isKept, change } = useDraft<Values>(
    connection,
    part.name,
    part.valuesOf,
    ({ base, values }) => !part.isSame(values, part.valuesOf(base)),
  );
  const [clash, setClash] = useState<Clash<Values>>();

  const saving = useOnce<Saved<Values>, Asked<Values>>({
    mutationFn: (asked) => save(vault, part, asked),
    onSuccess: (saved, { from }) => {
      if ("clash" in saved) return setClash(saved.clash);
      // What was changed while it was being saved stays, over what is there now.
      const later = keptDraft<Values>(connection.id, part.name);
      change(later === from || !later ? undefined : { ...later, base: saved.stored });
      setClash(undefined);
      stored(saved.stored);
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
    clash,
    edit: (values: Values) => {
      if (saving.isError) saving.reset();
      change({ base: draft.base, values });
    },
    save: (values: Values = draft.values, over: Connection = draft.base) =>
      saving.ask({ values, over, from: keptDraft(connection.id, part.name) }),
    /** Gives up what was changed. Returns false while it is being saved: that can't be called back. */
    discard: (current?: Connection) => {
      if (saving.isAsked()) return false;
      saving.reset();
      change(undefined);
      setClash(undefined);
      if (current) stored(current);
      return true;
    },
  };
}
