// The tags of one connection: edited as chips, saved only over what was read.
import { NotFoundError, PreconditionError, type Connection } from "connector-vault/slim";
import { useEffect, useRef, useState } from "preact/hooks";
import { explain } from "../parts/failure";
import { faultsOf, sentence } from "../parts/faults";
import { useOnce } from "../parts/once";
import { useSession } from "../session/session";
import { Conflict } from "./conflict";
import { allTags, dropDraft, keptDraft, sameTags, useDraft, type Draft } from "./drafts";
import { useTold } from "./kept";
import { TagsInput } from "./tags-input";

interface Saving {
  tags: readonly string[];
  over: Connection;
  /** What was being edited. */
  from: Draft | undefined;
}

/** What became of saving: stored, or something else is there meanwhile. */
type Saved = { stored: Connection } | { theirs: Connection };

interface Props {
  connection: Connection;
  onGone: () => void;
}

export function Tags({ connection, onGone }: Props) {
  const { vault } = useSession();
  const { stored } = useTold();
  const { draft, isChanged, change } = useDraft(connection);
  const [theirs, setTheirs] = useState<Connection>();
  const [said, setSaid] = useState("");
  const heading = useRef<HTMLHeadingElement>(null);
  const tags = allTags(draft);
  const faults = vault.connections.validateUpdate({ tags });
  const canSave = isChanged && faults.length === 0 && !sameTags(tags, draft.base.tags);

  const saving = useOnce<Saved, Saving>({
    mutationFn: async ({ tags, over }) => {
      try {
        return { stored: await vault.connections.update(over.id, { tags }, { ifMatch: over }) };
      } catch (error) {
        if (!(error instanceof PreconditionError)) throw error;
        const found = await vault.connections.get(over.id);
        // Both wanted the same.
        return sameTags(found.tags, tags) ? { stored: found } : { theirs: found };
      }
    },
    onSuccess: (saved, { from }) => {
      if ("theirs" in saved) return setTheirs(saved.theirs);
      // What was changed while it was being saved stays, over what is there now.
      const later = keptDraft(connection.id);
      done(saved.stored, "Saved.", later === from || !later ? undefined : { ...later, base: saved.stored });
    },
    onError: (error) => {
      if (!(error instanceof NotFoundError)) return;
      dropDraft(connection.id);
      onGone();
    },
  });

  function done(current: Connection, what: string, next?: Draft) {
    change(next);
    stored(current);
    setSaid(what);
    if (!theirs) return;
    // What had the focus goes.
    heading.current?.focus();
    setTheirs(undefined);
  }
  const discard = () => {
    heading.current?.focus();
    change(undefined);
    saving.reset();
    setSaid("Your changes are discarded.");
  };
  const save = (wanted: readonly string[], over: Connection) => {
    setSaid("");
    saving.ask({ tags: wanted, over, from: keptDraft(connection.id) });
  };
  const edit = (changed: Pick<typeof draft, "tags" | "text">) => {
    setSaid("");
    if (saving.isError) saving.reset();
    change({ ...draft, ...changed });
  };
  // A reload or a closed tab would lose what is not saved.
  useEffect(() => {
    if (!isChanged) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener("beforeunload", warn);
    return () => removeEventListener("beforeunload", warn);
  }, [isChanged]);

  const { error } = saving;
  return (
    <section class="section" aria-labelledby="tags-title">
      <h3 id="tags-title" ref={heading} tabIndex={-1}>Tags</h3>
      {theirs
        ? <Conflict theirs={theirs} mine={tags} isBusy={saving.isPending} onSave={(wanted) => save(wanted, theirs)} onKeep={() => done(theirs, "Kept theirs. Nothing was saved.")} />
        : (
          <>
            <TagsInput label="Add a tag" isLabelHidden tags={draft.tags} text={draft.text} faults={faults} onChange={edit} />
            <div class="buttons">
              <button type="button" class="primary" aria-disabled={!canSave || saving.isPending} onClick={() => canSave && save(tags, draft.base)}>
                {saving.isPending ? "Saving…" : "Save tags"}
              </button>
              {isChanged && <button type="button" aria-disabled={saving.isPending} onClick={() => !saving.isAsked() && discard()}>Discard changes</button>}
            </div>
          </>
        )}
      <div role="status">{said && <p class="note" data-tone="good">{said}</p>}</div>
      {error && !(error instanceof NotFoundError) && (
        <p class="note" data-tone="bad" role="alert">
          {explain(error).title}. {faultsOf(error).map(sentence).join(" ") || explain(error).detail} Your tags are still here and not saved yet: save them again.
        </p>
      )}
    </section>
  );
}
