import type { Fault } from "connector-vault/slim";
import { findFaultMessage } from "./faults";
import { TextField } from "./field";

/** An OpenID provider, with the credentials of the service's client at the provider. */
export interface Provider {
  issuer: string;
  clientId: string;
  /** If empty, the stored secret does not change. */
  clientSecret: string;
}

interface Props {
  value: Provider;
  /** Whether the service has a client secret. */
  hasSecret: boolean;
  faults: readonly Fault[];
  onChange: (changes: Partial<Provider>) => void;
}

/** The members of the request that configures sign-in with the provider. */
export const toProviderRequest = ({ issuer, clientId, clientSecret }: Provider) => ({
  issuer: issuer.trim(),
  clientId: clientId.trim(),
  ...(clientSecret === "" ? {} : { clientSecret }),
});

export const ProviderFields = ({ value, hasSecret, faults, onChange }: Props) => (
  <>
    <TextField
      label="Issuer"
      type="url"
      aria-required="true"
      placeholder="https://login.example.com"
      hint="The issuer in the provider's discovery document."
      value={value.issuer}
      fault={findFaultMessage(faults, "/issuer")}
      onInput={(issuer) => onChange({ issuer })}
    />
    <TextField
      label="Client ID"
      aria-required="true"
      value={value.clientId}
      fault={findFaultMessage(faults, "/clientId")}
      onInput={(clientId) => onChange({ clientId })}
    />
    <TextField
      label="Client secret (optional)"
      type="password"
      hint={hasSecret ? "A secret is stored. Leave this empty to keep it." : "Only for confidential clients."}
      value={value.clientSecret}
      fault={findFaultMessage(faults, "/clientSecret")}
      onInput={(clientSecret) => onChange({ clientSecret })}
    />
  </>
);
