import type { AuthField } from "connector-vault/slim";
import { useState } from "preact/hooks";
import { Field, TextField } from "../parts/field";

interface Props {
  field: AuthField;
  value: string;
  fault: string | undefined;
  onInput: (value: string) => void;
  onLeave: () => void;
}

/** Something that the platform's method asks for. */
export function Entry({ field, value, fault, onInput, onLeave }: Props) {
  const { label, description, required, secret, name } = field;
  const words = { label: required ? label : `${label} (optional)`, hint: description ?? undefined, fault };
  if (field.enum)
    return (
      <Field {...words}>
        {(ties) => (
          <select
            {...ties}
            name={name}
            required={required}
            value={value}
            onChange={({ currentTarget }) => onInput(currentTarget.value)}
            onBlur={onLeave}
          >
            <option value="">{required ? "Choose …" : "None"}</option>
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
    return <SecretField {...words} name={name} isRequired={required} value={value} {...{ onInput, onLeave }} />;
  return <TextField {...words} name={name} required={required} value={value} onInput={onInput} onBlur={onLeave} />;
}

interface SecretProps extends Omit<Props, "field"> {
  label: string;
  hint: string | undefined;
  name: string;
  isRequired: boolean;
}

/** A secret, which only its owner looks at. */
function SecretField({ label, hint, fault, name, isRequired, value, onInput, onLeave }: SecretProps) {
  const [isShown, setShown] = useState(false);
  return (
    <Field label={label} hint={hint} fault={fault}>
      {(ties) => (
        <div class="secret">
          <input
            {...ties}
            name={name}
            type={isShown ? "text" : "password"}
            required={isRequired}
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
            value={value}
            onInput={({ currentTarget }) => onInput(currentTarget.value)}
            onBlur={onLeave}
          />
          <button type="button" aria-pressed={isShown} aria-label={`Show ${label}`} onClick={() => setShown(!isShown)}>
            {isShown ? "Hide" : "Show"}
          </button>
        </div>
      )}
    </Field>
  );
}

/** What is wrong with a value, in the service's words; undefined if nothing is. */
export function faultOf({ required, pattern, enum: values, default: standard }: AuthField, value: string) {
  if (value === "") return required && standard === null ? "Is required." : undefined;
  if (values && !values.includes(value)) return `Must be one of ${values.join(", ")}.`;
  return pattern !== null && !matches(pattern, value) ? `Must match the pattern ${pattern}.` : undefined;
}

function matches(pattern: string, value: string): boolean {
  try {
    return new RegExp(`^(?:${pattern})$`, "u").test(value);
  } catch {
    // The service knows.
    return true;
  }
}
