// A connection that is to be created, as it is filled in.
import type { ConnectionState, Environment, IdentityType, NewConnection } from "connector-vault/slim";
import { useState } from "preact/hooks";
import { allTags } from "./drafts";

export interface Form {
  platform: string;
  identity: string;
  identityType: IdentityType;
  name: string;
  label: string;
  platformVersion: string;
  state: ConnectionState;
  active: boolean;
  tags: readonly string[];
  /** What is in the field of the tags and no chip yet. */
  text: string;
}

const EMPTY: Form = { platform: "", identity: "", identityType: "user", name: "", label: "", platformVersion: "", state: "unknown", active: true, tags: [], text: "" };

/** What was filled in last and not created: it is there again after a sign-in, or when the dialog was closed by mistake. */
let kept = EMPTY;

export function useForm() {
  const [form, setForm] = useState(kept);
  const change = (changes: Partial<Form>) => {
    kept = { ...kept, ...changes };
    setForm(kept);
  };
  return { form, change };
}

export const forgetForm = () => {
  kept = EMPTY;
};

/** What is asked for; what was left empty is left out. */
export function connectionOf({ platform, identity, identityType, name, label, platformVersion, state, active, tags, text }: Form): NewConnection {
  const given = { platform: platform.trim(), identity: identity.trim(), name: name.trim(), label: label.trim(), platformVersion: platformVersion.trim() };
  const filled = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ""));
  // What is missing, or no version, the validation tells.
  return { ...(filled as Pick<NewConnection, keyof typeof given>), identityType, state, active, tags: allTags({ tags, text }) };
}

/** The key that the connection gets. */
export const keyOf = (environment: Environment, { platform, label, identity }: NewConnection) => `${environment}::${platform}::${label ?? "default"}::${identity}`;
