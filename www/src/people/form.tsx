import type { ConsoleSignIn, NewConsoleSignIn, Scope } from "connector-vault/slim";
import { useState } from "preact/hooks";
import { findFaultMessage } from "../components/faults";
import { TextField } from "../components/field";
import { FormError } from "../components/form-error";
import { Modal } from "../components/modal";
import { SaveButtons } from "../components/save-buttons";
import { ScopeCheckboxes } from "../components/scope-checkboxes";
import { type Provider, ProviderFields, toProviderRequest } from "../components/provider-fields";
import { Select } from "../components/select";
import { useSingleFlight } from "../components/use-single-flight";
import { useValidatedForm } from "../components/use-validated-form";
import { useSession } from "../session/session";

interface Props {
  /** The sign-in to edit, or null to create one. */
  signIn: ConsoleSignIn | null;
  onClose: () => void;
  onSaved: () => void;
  fallbackFocus: () => HTMLElement | null;
}

/** A value of the claim, and the scopes that it grants. */
interface Role {
  name: string;
  scopes: readonly Scope[];
}

const NEW_ROLE: Role = { name: "", scopes: ["catalog:read", "connections:read"] };
/** The service's limit for the number of roles. */
const MAX_ROLES = 50;

/** Form for the OpenID provider or Access team that authenticates people, and for their roles. */
export const SignInForm = ({ signIn, onClose, onSaved, fallbackFocus }: Props) => (
  <Modal title="Sign-in to the console" kind="form" onClose={onClose} fallbackFocus={fallbackFocus}>
    <Form signIn={signIn} onClose={onClose} onSaved={onSaved} />
  </Modal>
);

function Form({ signIn, onClose, onSaved }: Omit<Props, "fallbackFocus">) {
  const { vault, whoami } = useSession();
  const [type, setType] = useState<ConsoleSignIn["type"]>(signIn?.type ?? "oidc");
  const [provider, setProvider] = useState<Provider>({
    issuer: signIn?.issuer ?? "",
    clientId: signIn?.clientId ?? "",
    clientSecret: "",
  });
  const [teamDomain, setTeamDomain] = useState(signIn?.teamDomain ?? "");
  const [audience, setAudience] = useState(signIn?.audience ?? "");
  const [claim, setClaim] = useState(signIn?.claim ?? "groups");
  const [roles, setRoles] = useState<readonly Role[]>(
    signIn ? Object.entries(signIn.roles).map(([name, scopes]) => ({ name, scopes })) : [NEW_ROLE],
  );
  const authentication =
    type === "oidc"
      ? {
          ...toProviderRequest(provider),
          // Keep the OpenID scopes, for which this form has no field.
          ...(signIn?.scopes ? { scopes: signIn.scopes } : {}),
        }
      : { teamDomain: teamDomain.trim(), audience: audience.trim() };
  const request: NewConsoleSignIn = {
    type,
    ...authentication,
    claim: claim.trim(),
    roles: Object.fromEntries(roles.map(({ name, scopes }) => [name.trim(), scopes])),
  };
  const saving = useSingleFlight({ mutationFn: () => vault.consoleSignIn.set(request), onSuccess: onSaved });
  const { error } = saving;
  const names = roles.map(({ name }) => name.trim());
  const nameFault = (index: number) => {
    if (names[index] === "") return "Enter a value of the claim.";
    return names.indexOf(names[index] ?? "") < index ? "This value is listed above." : undefined;
  };
  const localFaults = vault.consoleSignIn.validateSet(request);
  const areRolesValid = roles.every(({ scopes }, index) => scopes.length > 0 && nameFault(index) === undefined);
  const { form, isSubmitted, faults, edit, submit } = useValidatedForm(
    saving,
    localFaults,
    localFaults.length === 0 && areRolesValid,
  );
  const setRole = (roleIndex: number, changes: Partial<Role>) =>
    edit(() => setRoles(roles.map((role, index) => (index === roleIndex ? { ...role, ...changes } : role))));
  const rolesFault = findFaultMessage(faults, "/roles");
  return (
    <form class="section" ref={form} onSubmit={submit(saving.run)} noValidate autocomplete="off">
      <Select
        label="Who authenticates people"
        value={type}
        options={[
          ["oidc", "Your OpenID provider"],
          ["access", "Cloudflare Access"],
        ]}
        fault={findFaultMessage(faults, "/type")}
        onChange={(value) => edit(() => setType(value === "access" ? "access" : "oidc"))}
      />
      {type === "oidc" ? (
        <ProviderFields
          value={provider}
          hasSecret={signIn?.hasSecret === true}
          faults={faults}
          onChange={(changes) => edit(() => setProvider({ ...provider, ...changes }))}
        />
      ) : (
        <>
          <TextField
            label="Team domain"
            aria-required="true"
            placeholder="acme.cloudflareaccess.com"
            value={teamDomain}
            fault={findFaultMessage(faults, "/teamDomain")}
            onInput={(text) => edit(() => setTeamDomain(text))}
          />
          <TextField
            label="Audience"
            aria-required="true"
            hint="The AUD tag of the Access application in front of this service."
            value={audience}
            fault={findFaultMessage(faults, "/audience")}
            onInput={(text) => edit(() => setAudience(text))}
          />
        </>
      )}
      <TextField
        label="Claim with roles"
        aria-required="true"
        hint="Its name, such as groups or email, or a JSON Pointer, such as /realm_access/roles."
        value={claim}
        fault={findFaultMessage(faults, "/claim")}
        onInput={(text) => edit(() => setClaim(text))}
      />
      {roles.map(({ name, scopes }, index) => (
        <fieldset key={index} class="card section">
          <legend class="label">Role {index + 1}</legend>
          <TextField
            label="Value of the claim"
            aria-required="true"
            value={name}
            fault={isSubmitted ? nameFault(index) : undefined}
            onInput={(text) => setRole(index, { name: text })}
          />
          <ScopeCheckboxes
            legend="Scopes (at most those of your key)"
            options={[...new Set([...whoami.scopes, ...scopes])]}
            value={scopes}
            fault={isSubmitted && scopes.length === 0 ? "Choose at least one." : undefined}
            onChange={(newScopes) => setRole(index, { scopes: newScopes })}
          />
          {roles.length > 1 && (
            <div class="buttons">
              <button
                type="button"
                onClick={() => edit(() => setRoles(roles.filter((_, otherIndex) => otherIndex !== index)))}
                aria-label={`Remove role ${index + 1}`}
              >
                Remove
              </button>
            </div>
          )}
        </fieldset>
      ))}
      {rolesFault && <p class="field-error">{rolesFault}</p>}
      {roles.length < MAX_ROLES && (
        <div>
          <button type="button" onClick={() => edit(() => setRoles([...roles, NEW_ROLE]))}>
            Add a role
          </button>
        </div>
      )}
      <p class="muted small">
        {signIn && "Saving signs everyone out. "}
        People have access only until the key that you are signed in with expires or is revoked.
      </p>
      {error && <FormError error={error} hint="It may not have been saved. Check the page before you try again." />}
      <SaveButtons saving={saving} onCancel={onClose} />
    </form>
  );
}
