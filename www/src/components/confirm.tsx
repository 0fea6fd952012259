// Asks before something is done that can't be undone.
import type { ComponentChildren } from "preact";
import { Modal } from "./modal";
import type { useSingleFlight } from "./use-single-flight";

interface Props {
  /** The question. */
  title: string;
  /** What is done when the answer is yes. */
  mutation: Pick<ReturnType<typeof useSingleFlight>, "error" | "isPending" | "isInFlight"> & { run: () => void };
  /** What the two answers are called, and the second one while it is being done. */
  labels: { cancel: string; confirm: string; pending: string };
  /** Whether something is lost by it. */
  isDestructive?: boolean;
  /** What is told of an error, in sentences; false for nothing. */
  errorText: (error: unknown) => string | false;
  onClose: () => void;
  focusAfter?: () => HTMLElement | null;
  /** What will happen. */
  children: ComponentChildren;
}

export function Confirm({
  title,
  mutation,
  labels,
  isDestructive = false,
  errorText,
  onClose,
  focusAfter,
  children,
}: Props) {
  const { error, isPending } = mutation;
  const failed = error !== null && errorText(error);
  // What is under way can't be called back, from the very moment on: what is drawn says so only later.
  const keep = () => !mutation.isInFlight() && onClose();
  return (
    <Modal title={title} kind="alert" onClose={keep} fallbackFocus={focusAfter}>
      <div class="section">
        {children}
        {failed && (
          <p class="note" data-tone="bad" role="alert">
            {failed}
          </p>
        )}
        <div class="buttons">
          <button type="button" aria-disabled={isPending} onClick={keep}>
            {labels.cancel}
          </button>
          <button
            type="button"
            class={isDestructive ? "danger primary" : "primary"}
            aria-disabled={isPending}
            onClick={() => mutation.run()}
          >
            {isPending ? labels.pending : labels.confirm}
          </button>
        </div>
      </div>
    </Modal>
  );
}
