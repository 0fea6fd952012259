import type { ComponentChildren } from "preact";
import { Modal } from "./modal";
import type { useSingleFlight } from "./use-single-flight";

interface Props {
  title: string;
  /** Runs when the user confirms. */
  mutation: Pick<ReturnType<typeof useSingleFlight>, "error" | "isPending" | "isInFlight"> & { run: () => void };
  /** Labels of the buttons; `pending` replaces `confirm` while the mutation runs. */
  labels: { cancel: string; confirm: string; pending: string };
  isDestructive?: boolean;
  /** Returns the message for an error, or false to show none. */
  errorText: (error: unknown) => string | false;
  onClose: () => void;
  fallbackFocus?: () => HTMLElement | null;
  /** Describes the consequences for the user. */
  children: ComponentChildren;
}

export function Confirm({
  title,
  mutation,
  labels,
  isDestructive = false,
  errorText,
  onClose,
  fallbackFocus,
  children,
}: Props) {
  const { error, isPending } = mutation;
  const message = error !== null && errorText(error);
  // A running mutation can't be cancelled. `isPending` would be too late, because it changes only with the next render.
  const cancel = () => !mutation.isInFlight() && onClose();
  return (
    <Modal title={title} kind="alert" onClose={cancel} fallbackFocus={fallbackFocus}>
      <div class="section">
        {children}
        {message && (
          <p class="note" data-tone="bad" role="alert">
            {message}
          </p>
        )}
        <div class="buttons">
          <button type="button" aria-disabled={isPending} onClick={cancel}>
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
