import { useEffect, useRef } from "preact/hooks";
import { findFaultMessage } from "../components/faults";
import { useSession } from "../session/session";

interface Props {
  /** The tags before both changes. */
  base: readonly string[];
  theirs: readonly string[];
  mine: readonly string[];
  merged: readonly string[];
  isBusy: boolean;
  onSave: (tags: readonly string[]) => void;
  onKeepTheirs: () => void;
}

/** Shows two concurrent changes of tags and their merge, and lets the user choose. */
export function TagConflict({ base, theirs, mine: own, merged, isBusy, onSave, onKeepTheirs }: Props) {
  const { vault } = useSession();
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), [theirs]);
  const fault = findFaultMessage(vault.connections.validateUpdate({ tags: merged }), "/tags");
  return (
    <div class="conflict">
      <h4 ref={heading} tabIndex={-1}>
        Someone else has changed these tags
      </h4>
      <p class="muted small">Your changes are not saved yet. Choose which tags to save.</p>
      <div class="versions">
        <TagVersion title="Theirs, saved" tags={theirs} base={base} />
        <TagVersion title="Yours, not saved" tags={own} base={base} />
        <TagVersion title="Merged" tags={merged} />
      </div>
      <div class="choices">
        <button type="button" aria-disabled={isBusy} onClick={onKeepTheirs}>
          Keep theirs
        </button>
        <button type="button" aria-disabled={isBusy} onClick={() => onSave(own)}>
          Save mine
        </button>
        <button
          type="button"
          class="primary"
          aria-disabled={isBusy || fault !== undefined}
          aria-describedby={fault && "merge-fault"}
          onClick={() => fault === undefined && onSave(merged)}
        >
          Save merged
        </button>
      </div>
      {fault && (
        <p class="field-error" id="merge-fault">
          Merged: {fault}
        </p>
      )}
    </div>
  );
}

/** One version of the tags. With `base`, marks additions and removals. */
function TagVersion({ title, tags, base }: { title: string; tags: readonly string[]; base?: readonly string[] }) {
  const removed = base?.filter((tag) => !tags.includes(tag)) ?? [];
  const isAdded = (tag: string) => base !== undefined && !base.includes(tag);
  return (
    <section aria-label={title}>
      <h5>{title}</h5>
      {tags.length + removed.length === 0 ? (
        <p class="muted">No tags</p>
      ) : (
        <ul class="chips">
          {tags.map((tag, index) => (
            <li key={index} class="chip" data-change={isAdded(tag) ? "added" : undefined}>
              {tag}
              {isAdded(tag) && <span class="change small">added</span>}
            </li>
          ))}
          {removed.map((tag, index) => (
            <li key={`removed ${index}`} class="chip" data-change="removed">
              <s>{tag}</s>
              <span class="change small">removed</span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
