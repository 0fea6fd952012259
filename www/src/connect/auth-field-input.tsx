import type { AuthField } from "connector-vault/slim";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Field, TextField } from "../components/field";
import { catalogLanguage, fieldLabel, fieldText as translate } from "./translate";

interface Props {
  field: AuthField;
  value: string;
  fault: string | undefined;
  /** Whether the app has set a value that the user can't change. */
  isFixed?: boolean;
  onInput: (value: string) => void;
  onBlur?: (() => void) | undefined;
}

/** An input for one field of an auth method. */
export function AuthFieldInput({ field, value, fault, isFixed = false, onInput, onBlur }: Props) {
  const { description, required, secret, name } = field;
  const label = fieldLabel(field.label);
  const labelLang = catalogLanguage(field.label);
  if (isFixed)
    return (
      <TextField {...{ label, labelLang, hint: translate("field.fixed"), fault, name, value, onInput }} readOnly />
    );
  const commonAttributes = {
    label: required ? label : translate("field.optional", { label }),
    labelLang,
    hint: description === null ? undefined : <span lang={catalogLanguage()}>{description}</span>,
    fault,
  };
  if (field.enum)
    return (
      <Field {...commonAttributes}>
        {(attributes) => (
          <select
            {...attributes}
            name={name}
            required={required}
            value={value}
            onChange={({ currentTarget }) => onInput(currentTarget.value)}
            onBlur={onBlur}
          >
            <option value="">{translate(required ? "field.choose" : "field.none")}</option>
            {field.enum?.map((option) => (
              <option key={option} value={option} selected={option === value}>
                {option}
              </option>
            ))}
          </select>
        )}
      </Field>
    );
  if (secret)
    return (
      <SecretField {...commonAttributes} name={name} isRequired={required} value={value} {...{ onInput, onBlur }} />
    );
  return (
    <TextField {...commonAttributes} name={name} required={required} value={value} onInput={onInput} onBlur={onBlur} />
  );
}

interface SecretProps extends Omit<Props, "field" | "isFixed"> {
  label: string;
  labelLang: string | undefined;
  hint: ComponentChildren;
  name: string;
  isRequired: boolean;
}

function SecretField({ label, labelLang, hint, fault, name, isRequired, value, onInput, onBlur }: SecretProps) {
  const [isShown, setShown] = useState(false);
  return (
    <Field {...{ label, labelLang, hint, fault }}>
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
          <button
            type="button"
            aria-pressed={isShown}
            aria-label={translate("field.showLabel", { label })}
            onClick={() => setShown(!isShown)}
          >
            {translate(isShown ? "field.hide" : "field.show")}
          </button>
        </div>
      )}
    </Field>
  );
}

/** Returns the validation error of a value. Users do not read patterns, so it does not contain the field's pattern. */
export function validateField({ required, pattern, enum: allowed, default: fallback }: AuthField, value: string) {
  if (value === "") return required && fallback === null ? translate("field.required") : undefined;
  if (allowed && !allowed.includes(value)) return translate("field.oneOf", { values: allowed.join(", ") });
  return pattern !== null && !matches(pattern, value) ? translate("field.pattern") : undefined;
}

function matches(pattern: string, value: string): boolean {
  try {
    return new RegExp(`^(?:${pattern})$`, "u").test(value);
  } catch {
    // This browser does not support the pattern, so only the service validates the value.
    return true;
  }
}
