import type { ConnectionState, Fault, IdentityType, Whoami } from "connector-vault/slim";
import { STATES, STATE_MEANINGS } from "../components/badge";
import { TextField } from "../components/field";
import { Select } from "../components/select";
import { PlatformField } from "../connectors/platform-field";
import { findPlatform, type Platforms } from "../connectors/platforms";
import type { CreateForm } from "./create-form";
import { IDENTITY_TYPES } from "./filters";
import { TagsInput } from "./tags-input";

interface Props {
  form: CreateForm;
  fault: (name: keyof CreateForm) => string | undefined;
  /** All faults. The input for tags selects its own. */
  faults: readonly Fault[];
  platforms: Platforms | undefined;
  /** The session's restrictions, which determine the value of some fields. */
  whoami: Whoami;
  onChange: (changes: Partial<CreateForm>) => void;
  onBlur: (name: keyof CreateForm) => void;
}

export function CreateFields({ form, fault, faults, platforms, whoami, onChange, onBlur }: Props) {
  type Text = "identity" | "name" | "label" | "platformVersion";
  const text = (name: Text) => ({
    value: form[name],
    fault: fault(name),
    onInput: (value: string) => onChange({ [name]: value }),
    onBlur: () => form[name] !== "" && onBlur(name),
  });
  return (
    <div class="create-fields">
      <div class="full-width">
        <PlatformField
          label="Platform"
          isRequired
          autofocus
          text={form.platform}
          platforms={platforms}
          hint={findPlatform(platforms, form.platform)?.name}
          fault={fault("platform")}
          onInput={(platform) => onChange({ platform })}
          onChoose={(platform) => onChange({ platform })}
          onLeave={() => form.platform !== "" && onBlur("platform")}
        />
      </div>
      <TextField
        label="Identity"
        placeholder="ann@example.com"
        aria-required="true"
        readOnly={whoami.identity !== undefined}
        hint={
          whoami.identity === undefined
            ? "The ID or email address that your product uses for the user."
            : "This is you."
        }
        {...text("identity")}
      />
      <Select
        label="Identity type"
        value={form.identityType}
        options={(whoami.identityType ? [whoami.identityType] : IDENTITY_TYPES).map((type) => [type, type] as const)}
        fault={fault("identityType")}
        onChange={(value) => onChange({ identityType: value as IdentityType })}
      />
      <Select
        label="State"
        hint={STATE_MEANINGS[form.state]}
        value={form.state}
        options={STATES.map((state) => [state, state] as const)}
        fault={fault("state")}
        onChange={(value) => onChange({ state: value as ConnectionState })}
      />
      <TextField label="Name (optional)" placeholder="Ann's account" {...text("name")} />
      <TextField
        label="Label (optional)"
        placeholder="default"
        hint="Distinguishes several connections of one identity."
        {...text("label")}
      />
      <TextField label="Platform version (optional)" placeholder="From the catalog" {...text("platformVersion")} />
      <label class="check">
        <input
          type="checkbox"
          checked={form.active}
          onChange={(event) => onChange({ active: event.currentTarget.checked })}
        />{" "}
        Active
      </label>
      <div class="full-width">
        <TagsInput label="Tags (optional)" tags={form.tags} text={form.text} faults={faults} onChange={onChange} />
      </div>
    </div>
  );
}
