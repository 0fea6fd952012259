import { X } from "lucide-preact";
import type { ComponentChildren, JSX, RefObject } from "preact";
import { useEffect, useId, useLayoutEffect, useRef } from "preact/hooks";

interface Props {
  title: ComponentChildren;
  /** `drawer`: a panel at the side; `alert`: a question; `form`: fields to fill in. */
  kind: "drawer" | "alert" | "form";
  /** Only a button in the dialog closes it, for content that can't be shown again. */
  mustConfirm?: boolean;
  onClose: () => void;
  /** Where to move the focus if the element that opened the dialog no longer exists. */
  fallbackFocus?: (() => HTMLElement | null | undefined) | undefined;
  children: ComponentChildren;
}

/**
 * A modal dialog, open while the component is mounted. It traps the focus and restores it afterwards. Initially it
 * focuses the title, or in a form the field with `autofocus`.
 */
export function Modal({ title, kind, mustConfirm = false, onClose, fallbackFocus, children }: Props) {
  const dismiss = () => !mustConfirm && onClose();
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  const latestFallback = useRef(fallbackFocus);
  latestFallback.current = fallbackFocus;
  useLayoutEffect(() => {
    const element = dialog.current;
    element?.showModal();
    // The browser restores the focus only if the dialog is closed before it is removed.
    return () => element?.close();
  }, []);
  useEffect(
    () => () => {
      queueMicrotask(() => {
        if (document.activeElement === document.body) latestFallback.current?.()?.focus();
      });
    },
    [],
  );

  const onKeyDown = (event: JSX.TargetedKeyboardEvent<HTMLDialogElement>) => {
    if (event.key !== "Escape" || event.isComposing) return;
    // Escape closes only the innermost dialog, and only if the caller agrees.
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
        // Browsers can force a dialog to close. Reopen the dialog and let the caller decide.
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

/** Focuses the first field of a form, or its submit button. For forms that load after their dialog opens. */
export function useFocusFirst(form: RefObject<HTMLFormElement>) {
  useEffect(() => {
    form.current?.querySelector<HTMLElement>("input:not([type=checkbox]), select, [type=submit]")?.focus();
  }, []);
}
