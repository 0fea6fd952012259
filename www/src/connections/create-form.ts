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

/** The last form that was not submitted. Restored after signing in again, or after closing the dialog by mistake. */
const savedForm = untilSignOut(() => ({ current: undefined as SavedForm | undefined }));

/** The state of the form. A session that is restricted to an identity can create connections only for this identity. */
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

/** Builds the request body without empty fields. */
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
  // Validation reports missing and malformed values, so the cast is safe.
  return {
    ...(nonEmpty as Pick<NewConnection, keyof typeof trimmedFields>),
    identityType,
    state,
    active,
    tags: allTags({ tags, text }),
  };
}

/** Builds the future key of the connection, with an ellipsis for missing parts. */
export const previewKey = (environment: Environment, { platform, label, identity }: Partial<NewConnection>) =>
  [environment, platform || "…", label || "default", identity || "…"].join("::");
