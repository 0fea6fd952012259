import { Field } from "./field";

interface Props {
  label: string;
  value: string;
  /** Values with their words. */
  options: readonly (readonly [value: string, word: string])[];
  hint?: string;
  fault?: string | undefined;
  onChange: (value: string) => void;
}

/** A choice among a few. */
export function Select({ label, value, options, hint, fault, onChange }: Props) {
  // A link may ask for what is not on the list.
  const all = options.some(([known]) => known === value) ? options : [...options, [value, value] as const];
  return (
    <Field label={label} hint={hint} fault={fault}>
      {(ties) => (
        <select {...ties} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
          {all.map(([known, word]) => (
            <option key={known} value={known} selected={known === value}>
              {word}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
