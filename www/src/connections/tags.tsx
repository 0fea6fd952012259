// The tags of one connection, edited as chips.
import type { Connection } from "connector-vault/slim";
import { useRef, useState } from "preact/hooks";
import { useSession } from "../session/session";
import { Conflict } from "./conflict";
import { useEdit, type Part } from "./edit";
import { mergeTags, sameTags } from "./merge";
import { NotSaved } from "./not-saved";
import { TagsInput, allTags, type TagsTyped } from "./tags-input";

const TAGS: Part<TagsTyped> = {
  name: "tags",
  valuesOf: ({ tags }) => ({ tags, text: "" }),
  isSame: (some, others) => sameTags(some.tags, others.tags) && some.text.trim() === others.text.trim(),
  write: (vault, over, values) => vault.connections.update(over.id, { tags: allTags(values) }, { ifMatch: over }),
  // Tags can always be merged; but who changes what others have just changed should see it.
  merge: (base, theirs, mine) => (sameTags(base.tags, theirs.tags) ? mine : undefined),
};

interface Props {
  connection: Connection;
  onGone: () => void;
}

export function Tags({ connection, onGone }: Props) {
  const { vault } = useSession();
  const [said, setSaid] = useState("");
  const heading = useRef<HTMLHeadingElement>(null);
  const { values, base, isChanged, isBusy, error, clash, edit, save, discard } = useEdit(connection, TAGS, {
    onSaved: () => say("Saved."),
    onGone,
  });
  const tags = allTags(values);
  const faults = vault.connections.validateUpdate({ tags });
  const canSave = isChanged && faults.length === 0 && !sameTags(tags, base.tags);

  function say(what: string) {
    setSaid(what);
    // What had the focus goes.
    if (clash) heading.current?.focus();
  }
  return (
    <section class="section" aria-labelledby="tags-title">
      <h3 id="tags-title" ref={heading} tabIndex={-1}>
        Tags
      </h3>
      {clash ? (
        <Conflict
          base={clash.base.tags}
          theirs={clash.theirs.tags}
          mine={allTags(clash.mine)}
          merged={mergeTags(clash.base.tags, clash.theirs.tags, allTags(clash.mine))}
          isBusy={isBusy}
          onSave={(wanted) => save({ tags: wanted, text: "" }, clash.theirs)}
          onKeep={() => discard(clash.theirs) && say("Your changes are discarded.")}
        />
      ) : (
        <>
          <TagsInput
            label="Add a tag"
            isLabelHidden
            tags={values.tags}
            text={values.text}
            faults={faults}
            onChange={(changed) => {
              setSaid("");
              edit(changed);
            }}
          />
          <div class="buttons">
            <button
              type="button"
              class="primary"
              aria-disabled={!canSave || isBusy}
              onClick={() => {
                setSaid("");
                if (canSave) save({ tags, text: "" });
              }}
            >
              {isBusy ? "Saving…" : "Save tags"}
            </button>
            {isChanged && (
              <button
                type="button"
                aria-disabled={isBusy}
                onClick={() => {
                  if (!discard()) return;
                  heading.current?.focus();
                  setSaid("Your changes are discarded.");
                }}
              >
                Discard changes
              </button>
            )}
          </div>
        </>
      )}
      <div role="status">
        {said && (
          <p class="note" data-tone="good">
            {said}
          </p>
        )}
      </div>
      {error && <NotSaved error={error} rest="Your changes are still here, but not saved yet." />}
    </section>
  );
}
