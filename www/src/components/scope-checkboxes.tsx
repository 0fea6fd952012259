import type { Scope } from "connector-vault/slim";

interface Props {
  legend: string;
  options: readonly Scope[];
  value: readonly Scope[];
  fault?: string | undefined;
  onChange: (scopes: readonly Scope[]) => void;
}

export const ScopeCheckboxes = ({ legend, options, value, fault, onChange }: Props) => (
  <fieldset class="checkbox-grid" data-invalid={fault ? "" : undefined}>
    <legend class="label">{legend}</legend>
    {options.map((scope) => (
      <label key={scope} class="check">
        <input
          type="checkbox"
          checked={value.includes(scope)}
          onChange={() =>
            onChange(value.includes(scope) ? value.filter((other) => other !== scope) : [...value, scope])
          }
        />{" "}
        <code>{scope}</code>
      </label>
    ))}
    <div aria-live="polite">{fault && <p class="field-error">{fault}</p>}</div>
  </fieldset>
);
