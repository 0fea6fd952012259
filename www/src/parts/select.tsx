interface Props {
  label: string;
  value: string;
  /** Values with their words. */
  options: readonly (readonly [value: string, word: string])[];
  onChange: (value: string) => void;
}

/** A choice among a few. */
export function Select({ label, value, options, onChange }: Props) {
  // A link may ask for what is not on the list.
  const all = options.some(([known]) => known === value) ? options : [...options, [value, value] as const];
  return (
    <label class="field">
      <span>{label}</span>
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {all.map(([known, word]) => <option key={known} value={known} selected={known === value}>{word}</option>)}
      </select>
    </label>
  );
}
