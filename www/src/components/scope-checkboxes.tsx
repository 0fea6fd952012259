import type { Scope } from "connector-vault/slim";

const DESCRIPTIONS: Record<Scope, string> = {
  "catalog:read": "read connectors and actions",
  "connections:read": "read connections",
  "connections:write": "create, change and delete connections",
  "sessions:create": "create tokens for end users",
  "connections:connect": "connect accounts",
  "credentials:read": "read access tokens and other credentials",
  "credentials:write": "import credentials",
  "clients:read": "read OAuth clients and branding",
  "clients:write": "change OAuth clients and branding",
  "connections:call": "call platforms as the connected users",
  "events:read": "read events",
  "webhooks:read": "read webhooks and deliveries",
  "webhooks:write": "change and test webhooks",
  "keys:read": "list API keys",
  "keys:write": "create, rotate and revoke API keys",
  "agents:read": "read the agents' sign-in and grants",
  "agents:write": "change the agents' sign-in and grants",
  "audit:read": "read the audit",
  "usage:read": "read the usage",
  "console:read": "read how people sign in, and who is signed in",
  "console:write": "change how people sign in, and end sessions",
};

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
        <span>
          <code>{scope}</code>
          <span class="scope-description muted small">{DESCRIPTIONS[scope]}</span>
        </span>
      </label>
    ))}
    <div aria-live="polite">{fault && <p class="field-error">{fault}</p>}</div>
  </fieldset>
);
