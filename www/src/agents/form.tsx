import type { AgentSignIn, IdentityType, NewAgentSignIn } from "connector-vault/slim";
import { useState } from "preact/hooks";
import { CopyableCode } from "../components/copy-button";
import { findFaultMessage } from "../components/faults";
import { TextField } from "../components/field";
import { FormError } from "../components/form-error";
import { Modal } from "../components/modal";
import { type Provider, ProviderFields, toProviderRequest } from "../components/provider-fields";
import { SaveButtons } from "../components/save-buttons";
import { Select } from "../components/select";
import { useSingleFlight } from "../components/use-single-flight";
import { useValidatedForm } from "../components/use-validated-form";
import { useSession } from "../session/session";
import { useInvalidateAgents } from "./hooks";

interface Props {
  /** The sign-in to edit, or null to create one. */
  signIn: AgentSignIn | null;
  redirectUri: string | undefined;
  onClose: () => void;
  onSaved: () => void;
  fallbackFocus: () => HTMLElement | null;
}

const IDENTITY_TYPE_OPTIONS: readonly (readonly [type: string, label: string])[] = [
  ["", "Any type"],
  ["user", "User"],
  ["team", "Team"],
  ["organization", "Organization"],
  ["project", "Project"],
];

const CONFIRM_OPTIONS: readonly (readonly [confirm: string, label: string])[] = [
  ["", "Only what they choose themselves"],
  ["destructive", "At least each deletion"],
  ["write", "Each change"],
];

/** Form for the OpenID provider or the app that authenticates the users of agents. */
export const SignInForm = ({ fallbackFocus, ...props }: Props) => (
  <Modal title="Sign-in for agents" kind="form" onClose={props.onClose} fallbackFocus={fallbackFocus}>
    <Form {...props} />
  </Modal>
);

function Form({ signIn, redirectUri, onClose, onSaved }: Omit<Props, "fallbackFocus">) {
  const { vault } = useSession();
  const invalidate = useInvalidateAgents();
  const [type, setType] = useState<AgentSignIn["type"]>(signIn?.type ?? "oidc");
  const [provider, setProvider] = useState<Provider>({
    issuer: signIn?.issuer ?? "",
    clientId: signIn?.clientId ?? "",
    clientSecret: "",
  });
  const [identityClaim, setIdentityClaim] = useState(signIn?.identityClaim ?? "sub");
  const [identityType, setIdentityType] = useState<string>(signIn?.identityType ?? "");
  const [confirm, setConfirm] = useState<string>(signIn?.confirm ?? "");
  const [url, setUrl] = useState(signIn?.url ?? "");
  const oidcSignIn: NewAgentSignIn = {
    type: "oidc",
    ...toProviderRequest(provider),
    identityClaim: identityClaim.trim(),
    ...(identityType === "" ? {} : { identityType: identityType as IdentityType }),
    ...(confirm === "write" || confirm === "destructive" ? { confirm } : {}),
  };
  const request: NewAgentSignIn = type === "oidc" ? oidcSignIn : { type: "app", url: url.trim() };
  const saving = useSingleFlight({
    mutationFn: () => vault.agentSignIn.set(request),
    onSuccess: () => {
      void invalidate();
      onSaved();
    },
  });
  const { error } = saving;
  const { form, faults, edit, submit } = useValidatedForm(saving, vault.agentSignIn.validateSet(request));
  return (
    <form class="section" ref={form} onSubmit={submit(saving.run)} noValidate autocomplete="off">
      <Select
        label="Who authenticates your users"
        value={type}
        options={[
          ["oidc", "Your OpenID provider"],
          ["app", "Your own app"],
        ]}
        fault={findFaultMessage(faults, "/type")}
        onChange={(value) => edit(() => setType(value === "app" ? "app" : "oidc"))}
      />
      {type === "oidc" ? (
        <>
          {redirectUri !== undefined && (
            <dl class="description-list">
              <dt>Redirect URI to register</dt>
              <CopyableCode text={redirectUri} noun="redirect URI" />
            </dl>
          )}
          <ProviderFields
            value={provider}
            hasSecret={signIn?.hasSecret === true}
            faults={faults}
            onChange={(changes) => edit(() => setProvider({ ...provider, ...changes }))}
          />
          <TextField
            label="Identity claim"
            hint="Its value is the identity of the user's connections. The claim email is accepted only if the provider has verified it."
            value={identityClaim}
            fault={findFaultMessage(faults, "/identityClaim")}
            onInput={(text) => edit(() => setIdentityClaim(text))}
          />
          <Select
            label="Identity type"
            value={identityType}
            options={IDENTITY_TYPE_OPTIONS}
            fault={findFaultMessage(faults, "/identityType")}
            onChange={(value) => edit(() => setIdentityType(value))}
          />
          <Select
            label="Users must approve"
            value={confirm}
            options={CONFIRM_OPTIONS}
            fault={findFaultMessage(faults, "/confirm")}
            onChange={(value) => edit(() => setConfirm(value))}
          />
        </>
      ) : (
        <TextField
          label="URL of your app"
          type="url"
          aria-required="true"
          placeholder="https://app.example.com/agents"
          hint="This page authenticates the user, then calls POST /v1/agent-grants."
          value={url}
          fault={findFaultMessage(faults, "/url")}
          onInput={(text) => edit(() => setUrl(text))}
        />
      )}
      <p class="muted small">
        Agents have at most the scopes of the key that you are signed in with, and only until it expires or is revoked.
      </p>
      {error && <FormError error={error} hint="It may not have been saved. Check the page before you try again." />}
      <SaveButtons saving={saving} onCancel={onClose} />
    </form>
  );
}
