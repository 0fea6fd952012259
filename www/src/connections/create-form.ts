// Form state for a new connection.
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

/** The last unsubmitted form: restored after signing in again, or when the dialog was closed by mistake. */
const savedForm = untilSignOut(() => ({ current: undefined as SavedForm | undefined }));

/** A session restricted to an identity can create connections only for that identity. */
export function useCreateForm({ account, environment, identity, identityType }: Whoami) {
  const saved = savedForm().current;
  const belongsToSession =
    saved?.account === account && saved.environment === environment && saved.identity === identity;
  const empty = { ...EMPTY, ...(identity && { identity }), ...(identityType && { identityType }) };
  const [form, setForm] = useState(belongsToSession && saved ? saved.form : empty);
  const change = (changes: Partial<CreateForm>) =>
    setForm((current) => {
      const next = { ...current, ...changes };
      savedForm().current = { account, environment, identity, form: next };
      return next;
    });
  return { form, change };
}

export const clearForm = () => {
  savedForm().current = undefined;
};

/** Builds the request body. Omits empty fields. */
export function toConnection(
  { platform, identity, identityType, name, label, platformVersion, state, active, tags, text }: CreateForm,
  platforms: Platforms | undefined,
): NewConnection {
  const trimmedFields = {
    platform: findPlatform(platforms, platform)?.platform ?? platform.trim(),
    identity: identity.trim(),
    name: name.trim(),
    label: label.trim(),
    platformVersion: platformVersion.trim(),
  };
  const nonEmpty = Object.fromEntries(Object.entries(trimmedFields).filter(([, value]) => value !== ""));
  // Validation reports missing and malformed values.
  return {
    ...(nonEmpty as Pick<NewConnection, keyof typeof trimmedFields>),
    identityType,
    state,
    active,
    tags: allTags({ tags, text }),
  };
}

/** The future key, with an ellipsis for missing parts. */
export const previewKey = (environment: Environment, { platform, label, identity }: Partial<NewConnection>) =>
  [environment, platform || "…", label || "default", identity || "…"].join("::");
