import type { ComponentChildren, JSX } from "preact";
import { useId } from "preact/hooks";

interface Props {
  label: string;
  /** Language of the label, if it differs from the page's language. */
  labelLang?: string | undefined;
  hint?: ComponentChildren;
  fault?: string | undefined;
  /** Renders the control with attributes that refer to its label, hint and error. */
  children: (attributes: InputAttributes) => ComponentChildren;
}

export interface InputAttributes {
  id: string;
  "aria-invalid": boolean;
  "aria-describedby": string | undefined;
}

/** A form field: label, control, error and hint. */
export function Field({ label, labelLang, hint, fault, children }: Props) {
  const id = useId();
  const describedBy = [fault && `${id}-fault`, hint && `${id}-hint`].filter(Boolean).join(" ");
  return (
    <div class="field">
      <label class="label" for={id} lang={labelLang}>
        {label}
      </label>
      {children({ id, "aria-invalid": fault !== undefined, "aria-describedby": describedBy || undefined })}
      <div aria-live="polite">
        {fault && (
          <p class="field-error" id={`${id}-fault`}>
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

export function TextField({ label, labelLang, hint, fault, onInput, ...input }: InputProps) {
  return (
    <Field {...{ label, labelLang, hint, fault }}>
      {(attributes) => (
        <input
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          {...input}
          {...attributes}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}
