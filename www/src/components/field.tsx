import type { ComponentChildren, JSX } from "preact";
import { useId } from "preact/hooks";

interface Props {
  label: string;
  /** What may be filled in. */
  hint?: ComponentChildren;
  /** What is wrong with what is filled in. */
  fault?: string | undefined;
  /** Draws what is filled in, with what ties it to its label and to what is said about it. */
  children: (ties: InputAttributes) => ComponentChildren;
}

export interface InputAttributes {
  id: string;
  "aria-invalid": boolean;
  "aria-describedby": string | undefined;
}

/** Something to fill in, under its label and above what is to be said about it. */
export function Field({ label, hint, fault, children }: Props) {
  const id = useId();
  const described = [fault && `${id}-fault`, hint && `${id}-hint`].filter(Boolean).join(" ");
  return (
    <div class="field">
      <label class="label" for={id}>
        {label}
      </label>
      {children({ id, "aria-invalid": fault !== undefined, "aria-describedby": described || undefined })}
      <div aria-live="polite">
        {fault && (
          <p class="problem" id={`${id}-fault`}>
            {fault}
          </p>
        )}
      </div>
      {hint && (
        <p class="muted small" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

type InputProps = Omit<Props, "children"> &
  Omit<JSX.InputHTMLAttributes<HTMLInputElement>, "label" | "onChange" | "onInput"> & {
    onInput: (text: string) => void;
  };

/** A line of text. */
export function TextField({ label, hint, fault, onInput, ...input }: InputProps) {
  return (
    <Field label={label} hint={hint} fault={fault}>
      {(ties) => (
        <input
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          {...input}
          {...ties}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}
