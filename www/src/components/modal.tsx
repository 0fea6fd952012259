import { X } from "lucide-preact";
import type { ComponentChildren, JSX, RefObject } from "preact";
import { useEffect, useId, useLayoutEffect, useRef } from "preact/hooks";

interface Props {
  title: ComponentChildren;
  /** A drawer stands at the side; an alert asks something that has to be answered, and a form what has to be filled in. */
  kind: "drawer" | "alert" | "form";
  /** Only a button in it closes it, neither Escape nor a cross: what it shows can't be shown again. */
  mustConfirm?: boolean;
  /** Whoever is in it wants to leave it. */
  onClose: () => void;
  /** Who gets the focus when whatever had it before is gone. */
  fallbackFocus?: (() => HTMLElement | null | undefined) | undefined;
  children: ComponentChildren;
}

/**
 * A dialog that is open as long as it is drawn. It keeps the focus, and gives it back. Its title has it first; in a form, the
 * field with `autofocus`.
 */
export function Modal({ title, kind, mustConfirm = false, onClose, fallbackFocus, children }: Props) {
  const dismiss = () => !mustConfirm && onClose();
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  const after = useRef(fallbackFocus);
  after.current = fallbackFocus;
  useLayoutEffect(() => {
    const element = dialog.current;
    element?.showModal();
    // Closed before it is taken out of the page: only so the browser gives the focus back.
    return () => element?.close();
  }, []);
  useEffect(
    () => () => {
      queueMicrotask(() => {
        if (document.activeElement === document.body) after.current?.()?.focus();
      });
    },
    [],
  );

  const onKeyDown = (event: JSX.TargetedKeyboardEvent<HTMLDialogElement>) => {
    if (event.key !== "Escape" || event.isComposing) return;
    // One dialog at a time, and not without being asked.
    event.stopPropagation();
    event.preventDefault();
    dismiss();
  };
  const onPointerDown = (event: JSX.TargetedPointerEvent<HTMLDialogElement>) => {
    const { left, right, top, bottom } = event.currentTarget.getBoundingClientRect();
    const isOutside = event.clientX < left || event.clientX > right || event.clientY < top || event.clientY > bottom;
    if (event.target === event.currentTarget && isOutside && kind === "drawer") onClose();
  };
  return (
    <dialog
      ref={dialog}
      class={kind === "drawer" ? "drawer" : ""}
      role={kind === "alert" ? "alertdialog" : undefined}
      aria-labelledby={id}
      onKeyDown={onKeyDown}
      onPointerDown={onPointerDown}
      onCancel={(event) => {
        event.preventDefault();
        dismiss();
      }}
      onClose={() => {
        // A browser may close it by force; whether it goes is not the browser's to say.
        if (!dialog.current?.isConnected) return;
        dialog.current.showModal();
        dismiss();
      }}
    >
      <div class="dialog-head">
        <h2 id={id} tabIndex={-1} autofocus={kind !== "form"}>
          {title}
        </h2>
        {!mustConfirm && (
          <button type="button" class="icon" aria-label="Close" title="Close" onClick={onClose}>
            <X size={20} aria-hidden="true" />
          </button>
        )}
      </div>
      {children}
    </dialog>
  );
}

/** Gives the focus to the first field of a form that may be drawn later than its dialog, or to the button that sends it. */
export function useFocusFirst(form: RefObject<HTMLFormElement>) {
  useEffect(() => {
    form.current?.querySelector<HTMLElement>("input:not([type=checkbox]), select, [type=submit]")?.focus();
  }, []);
}
