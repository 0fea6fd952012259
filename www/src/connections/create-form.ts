// A connection that is to be created, as it is filled in.
import type { ConnectionState, Environment, IdentityType, NewConnection, Whoami } from "connector-vault/slim";
import { useState } from "preact/hooks";
import { findPlatform, type Platforms } from "../connectors/platforms";
import { untilSignOut } from "../session/store";
import { allTags, type TagsValue } from "./tags-input";

export interface CreateForm extends TagsValue {
  platform: string;
  identity: string;
  identityType: IdentityType;
  name: string;
  label: string;
  platformVersion: string;
  state: ConnectionState;
  active: boolean;
}

const EMPTY: CreateForm = {
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

interface SavedForm {
  account: string;
  environment: Environment;
  identity: string | undefined;
  form: CreateForm;
}

/** What was filled in last and not created: it is there again after a sign-in, or when the dialog was closed by mistake. */
const savedForm = untilSignOut(() => ({ current: undefined as SavedForm | undefined }));

/** What is filled in. Whoever is confined to an identity can create for that one only. */
export function useCreateForm({ account, environment, identity, identityType }: Whoami) {
  const saved = savedForm().current;
  const isOurs = saved?.account === account && saved.environment === environment && saved.identity === identity;
  const empty = { ...EMPTY, ...(identity && { identity }), ...(identityType && { identityType }) };
  const [form, setForm] = useState(isOurs && saved ? saved.form : empty);
  const change = (changes: Partial<CreateForm>) =>
    setForm((before) => {
      const next = { ...before, ...changes };
      savedForm().current = { account, environment, identity, form: next };
      return next;
    });
  return { form, change };
}

export const clearForm = () => {
  savedForm().current = undefined;
};

/** What is asked for; what was left empty is left out. */
export function toConnection(
  { platform, identity, identityType, name, label, platformVersion, state, active, tags, text }: CreateForm,
  platforms: Platforms | undefined,
): NewConnection {
  const given = {
    platform: findPlatform(platforms, platform)?.platform ?? platform.trim(),
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
export const previewKey = (environment: Environment, { platform, label, identity }: Partial<NewConnection>) =>
  [environment, platform || "…", label || "default", identity || "…"].join("::");
