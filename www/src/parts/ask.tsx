// Asks before something is done that can't be undone.
import type { ComponentChildren } from "preact";
import { Modal } from "./modal";
import type { useOnce } from "./once";

interface Props {
  /** The question. */
  title: string;
  /** What is done when the answer is yes. */
  once: Pick<ReturnType<typeof useOnce>, "error" | "isPending" | "isAsked"> & { ask: () => void };
  /** What the two answers are called, and the second one while it is being done. */
  words: { keep: string; confirm: string; pending: string };
  /** Whether something is lost by it. */
  isDanger?: boolean;
  /** What is told of an error, in sentences; false for nothing. */
  failure: (error: unknown) => string | false;
  onClose: () => void;
  focusAfter?: () => HTMLElement | null;
  /** What will happen. */
  children: ComponentChildren;
}

export function Ask({ title, once, words, isDanger = false, failure, onClose, focusAfter, children }: Props) {
  const { error, isPending } = once;
  const failed = error !== null && failure(error);
  // What is under way can't be called back, from the very moment on: what is drawn says so only later.
  const keep = () => !once.isAsked() && onClose();
  return (
    <Modal title={title} kind="alert" onClose={keep} focusAfter={focusAfter}>
      <div class="section">
        {children}
        {failed && (
          <p class="note" data-tone="bad" role="alert">
            {failed}
          </p>
        )}
        <div class="buttons">
          <button type="button" aria-disabled={isPending} onClick={keep}>
            {words.keep}
          </button>
          <button
            type="button"
            class={isDanger ? "danger primary" : "primary"}
            aria-disabled={isPending}
            onClick={() => once.ask()}
          >
            {isPending ? words.pending : words.confirm}
          </button>
        </div>
      </div>
    </Modal>
  );
}
