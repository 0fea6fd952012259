import type { Connection } from "connector-vault/slim";
import { useEffect, useRef } from "preact/hooks";
import { faultAt } from "../parts/faults";
import { useSession } from "../session/session";

interface Props {
  theirs: Connection;
  mine: readonly string[];
  isBusy: boolean;
  /** Saves tags over theirs. */
  onSave: (tags: readonly string[]) => void;
  onKeep: () => void;
}

/** Two have changed the same tags: shows what each wants, and lets one choose. */
export function Conflict({ theirs, mine, isBusy, onSave, onKeep }: Props) {
  const { vault } = useSession();
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), [theirs]);
  const both = [...theirs.tags, ...mine.filter((tag) => !theirs.tags.includes(tag))];
  const fault = faultAt(vault.connections.validateUpdate({ tags: both }), "/tags");
  return (
    <div class="conflict">
      <h4 ref={heading} tabIndex={-1}>Somebody else has changed these tags meanwhile</h4>
      <p class="muted small">Nothing is saved yet, and nothing is lost. Choose what is to be there.</p>
      <div class="versions">
        <Version title="Theirs, saved meanwhile" tags={theirs.tags} others={mine} />
        <Version title="Yours" tags={mine} others={theirs.tags} />
      </div>
      <div class="choices">
        <button type="button" aria-disabled={isBusy} onClick={onKeep}>Keep theirs</button>
        <button type="button" aria-disabled={isBusy} onClick={() => onSave(mine)}>Save mine</button>
        <button
          type="button"
          class="primary"
          aria-disabled={isBusy || fault !== undefined}
          aria-describedby={fault && "merge-fault"}
          onClick={() => fault === undefined && onSave(both)}
        >
          Save both together
        </button>
      </div>
      {fault && <p class="problem" id="merge-fault">Both together: {fault}</p>}
    </div>
  );
}

/** One side; what the other one does not have is marked. */
function Version({ title, tags, others }: { title: string; tags: readonly string[]; others: readonly string[] }) {
  return (
    <section aria-label={title}>
      <h5>{title}</h5>
      {tags.length === 0 ? <p class="muted">No tags</p> : (
        <ul class="chips">
          {tags.map((tag, at) => (
            <li key={at} class="chip" data-only={!others.includes(tag) || undefined}>
              {tag}
              {!others.includes(tag) && <span class="only small">only here</span>}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
