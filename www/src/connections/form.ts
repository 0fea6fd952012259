// A connection that is to be created, as it is filled in.
import type { ConnectionState, Environment, IdentityType, NewConnection, Whoami } from "connector-vault/slim";
import { useState } from "preact/hooks";
import { platformOf, type Platforms } from "../connectors/platforms";
import { untilSignOut } from "../session/store";
import { allTags, type TagsTyped } from "./tags-input";

export interface Form extends TagsTyped {
  platform: string;
  identity: string;
  identityType: IdentityType;
  name: string;
  label: string;
  platformVersion: string;
  state: ConnectionState;
  active: boolean;
}

const EMPTY: Form = {
  platform: "",
  identity: "",
  identityType: "user",
  name: "",
  label: "",
  platformVersion: "",
  state: "unknown",
  active: true,
  tags: [],
  text: "",
};

interface Kept {
  account: string;
  environment: Environment;
  identity: string | undefined;
  form: Form;
}

/** What was filled in last and not created: it is there again after a sign-in, or when the dialog was closed by mistake. */
const last = untilSignOut(() => ({ kept: undefined as Kept | undefined }));

/** What is filled in. Whoever is confined to an identity can create for that one only. */
export function useForm({ account, environment, identity, identityType }: Whoami) {
  const { kept } = last();
  const isOurs = kept?.account === account && kept.environment === environment && kept.identity === identity;
  const empty = { ...EMPTY, ...(identity && { identity }), ...(identityType && { identityType }) };
  const [form, setForm] = useState(isOurs && kept ? kept.form : empty);
  const change = (changes: Partial<Form>) =>
    setForm((before) => {
      const next = { ...before, ...changes };
      last().kept = { account, environment, identity, form: next };
      return next;
    });
  return { form, change };
}

export const forgetForm = () => {
  last().kept = undefined;
};

/** What is asked for; what was left empty is left out. */
export function connectionOf(
  { platform, identity, identityType, name, label, platformVersion, state, active, tags, text }: Form,
  platforms: Platforms | undefined,
): NewConnection {
  const given = {
    platform: platformOf(platforms, platform)?.platform ?? platform.trim(),
    identity: identity.trim(),
    name: name.trim(),
    label: label.trim(),
    platformVersion: platformVersion.trim(),
  };
  const filled = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ""));
  // The validation reports what is missing or not a version.
  return {
    ...(filled as Pick<NewConnection, keyof typeof given>),
    identityType,
    state,
    active,
    tags: allTags({ tags, text }),
  };
}

/** The key that the connection gets; what is not filled in yet is an ellipsis. */
export const keyOf = (environment: Environment, { platform, label, identity }: Partial<NewConnection>) =>
  [environment, platform || "…", label || "default", identity || "…"].join("::");
