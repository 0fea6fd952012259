// Editor for a connection's tags.
import type { Connection } from "connector-vault/slim";
import { useRef, useState } from "preact/hooks";
import { useSession } from "../session/session";
import { mergeTags, hasSameTags } from "./merge";
import { SaveError } from "./save-error";
import { TagConflict } from "./tag-conflict";
import { TagsInput, allTags, type TagsValue } from "./tags-input";
import { useEdit, type EditablePart } from "./use-edit";

const TAGS_PART: EditablePart<TagsValue> = {
  name: "tags",
  getValues: ({ tags }) => ({ tags, text: "" }),
  isEqual: (a, b) => hasSameTags(a.tags, b.tags) && a.text.trim() === b.text.trim(),
  save: (vault, version, values) =>
    vault.connections.update(version.id, { tags: allTags(values) }, { ifMatch: version }),
  // Tags can always be merged, but the user should see concurrent changes first.
  merge: (base, theirs, own) => (hasSameTags(base.tags, theirs.tags) ? own : undefined),
};

interface Props {
  connection: Connection;
  onGone: () => void;
}

export function Tags({ connection, onGone }: Props) {
  const { vault } = useSession();
  const [status, setStatus] = useState("");
  const heading = useRef<HTMLHeadingElement>(null);
  const { values, base, isChanged, isBusy, error, conflict, edit, save, discard } = useEdit(connection, TAGS_PART, {
    onSaved: () => showStatus("Saved."),
    onGone,
  });
  const tags = allTags(values);
  const faults = vault.connections.validateUpdate({ tags });
  const canSave = isChanged && faults.length === 0 && !hasSameTags(tags, base.tags);

  function showStatus(message: string) {
    setStatus(message);
    // The element that had the focus no longer exists.
    if (conflict) heading.current?.focus();
  }
  return (
    <section class="section" aria-labelledby="tags-title">
      <h3 id="tags-title" ref={heading} tabIndex={-1}>
        Tags
      </h3>
      {conflict ? (
        <TagConflict
          base={conflict.base.tags}
          theirs={conflict.theirs.tags}
          mine={allTags(conflict.mine)}
          merged={mergeTags(conflict.base.tags, conflict.theirs.tags, allTags(conflict.mine))}
          isBusy={isBusy}
          onSave={(tagsToSave) => save({ tags: tagsToSave, text: "" }, conflict.theirs)}
          onKeepTheirs={() => discard(conflict.theirs) && showStatus("Your changes are discarded.")}
        />
      ) : (
        <>
          <TagsInput
            label="Add a tag"
            isLabelHidden
            tags={values.tags}
            text={values.text}
            faults={faults}
            onChange={(newValues) => {
              setStatus("");
              edit(newValues);
            }}
          />
          <div class="buttons">
            <button
              type="button"
              class="primary"
              aria-disabled={!canSave || isBusy}
              onClick={() => {
                setStatus("");
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
                  setStatus("Your changes are discarded.");
                }}
              >
                Discard changes
              </button>
            )}
          </div>
        </>
      )}
      <div role="status">
        {status && (
          <p class="note" data-tone="good">
            {status}
          </p>
        )}
      </div>
      {error && <SaveError error={error} consequence="Your changes are still here, but not saved yet." />}
    </section>
  );
}
