import type { AuthField } from "connector-vault/slim";
import { useState } from "preact/hooks";
import { Field, TextField } from "../components/field";

interface Props {
  field: AuthField;
  value: string;
  fault: string | undefined;
  /** Whether the app has fixed the value. */
  isFixed?: boolean;
  onInput: (value: string) => void;
  onBlur?: (() => void) | undefined;
}

/** An input for one field of an auth method. */
export function AuthFieldInput({ field, value, fault, isFixed = false, onInput, onBlur }: Props) {
  const { label, description, required, secret, name } = field;
  const common = { label: required ? label : `${label} (optional)`, hint: description ?? undefined, fault };
  if (field.enum && !isFixed)
    return (
      <Field {...common}>
        {(attributes) => (
          <select
            {...attributes}
            name={name}
            required={required}
            value={value}
            onChange={({ currentTarget }) => onInput(currentTarget.value)}
            onBlur={onBlur}
          >
            <option value="">{required ? "Choose…" : "None"}</option>
            {field.enum?.map((one) => (
              <option key={one} value={one} selected={one === value}>
                {one}
              </option>
            ))}
          </select>
        )}
      </Field>
    );
  if (secret)
    return <SecretField {...common} name={name} isRequired={required} value={value} {...{ onInput, onBlur }} />;
  const input = { name, required, value, readOnly: isFixed, onInput, onBlur };
  return <TextField {...common} {...input} />;
}

interface SecretProps extends Omit<Props, "field" | "isFixed"> {
  label: string;
  hint: string | undefined;
  name: string;
  isRequired: boolean;
}

function SecretField({ label, hint, fault, name, isRequired, value, onInput, onBlur }: SecretProps) {
  const [isShown, setShown] = useState(false);
  return (
    <Field label={label} hint={hint} fault={fault}>
      {(attributes) => (
        <div class="secret">
          <input
            {...attributes}
            name={name}
            type={isShown ? "text" : "password"}
            required={isRequired}
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
            value={value}
            onInput={({ currentTarget }) => onInput(currentTarget.value)}
            onBlur={onBlur}
          />
          <button type="button" aria-pressed={isShown} aria-label={`Show ${label}`} onClick={() => setShown(!isShown)}>
            {isShown ? "Hide" : "Show"}
          </button>
        </div>
      )}
    </Field>
  );
}

/** The validation error of a value, worded as the service does. */
export function validateField({ required, pattern, enum: allowed, default: fallback }: AuthField, value: string) {
  if (value === "") return required && fallback === null ? "This is required." : undefined;
  if (allowed && !allowed.includes(value)) return `Must be one of ${allowed.join(", ")}.`;
  return pattern !== null && !matches(pattern, value) ? `Must match the pattern ${pattern}.` : undefined;
}

function matches(pattern: string, value: string): boolean {
  try {
    return new RegExp(`^(?:${pattern})$`, "u").test(value);
  } catch {
    // The service validates it.
    return true;
  }
}
