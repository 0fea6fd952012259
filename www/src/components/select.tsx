import { Field } from "./field";

interface Props {
  label: string;
  value: string;
  options: readonly (readonly [value: string, label: string])[];
  hint?: string | undefined;
  fault?: string | undefined;
  onChange: (value: string) => void;
}

export function Select({ label, value, options, hint, fault, onChange }: Props) {
  // A URL can contain a value that is not an option.
  const allOptions = options.some(([option]) => option === value) ? options : [...options, [value, value] as const];
  return (
    <Field label={label} hint={hint} fault={fault}>
      {(attributes) => (
        <select {...attributes} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
          {allOptions.map(([option, label]) => (
            <option key={option} value={option} selected={option === value}>
              {label}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
