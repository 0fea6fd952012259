import type { ApiKeyWithSecret, Scope } from "connector-vault/slim";
import { useState } from "preact/hooks";
import { findFaultMessage } from "../components/faults";
import { TextField } from "../components/field";
import { FormError } from "../components/form-error";
import { Modal } from "../components/modal";
import { formatExact } from "../components/relative-time";
import { ScopeCheckboxes } from "../components/scope-checkboxes";
import { Select } from "../components/select";
import { useSingleFlight } from "../components/use-single-flight";
import { useValidatedForm } from "../components/use-validated-form";
import { useSession } from "../session/session";
import { useInvalidateKeys } from "./hooks";

interface Props {
  onClose: () => void;
  onCreated: (key: ApiKeyWithSecret) => void;
  fallbackFocus: () => HTMLElement | null;
}

const DAY_MS = 24 * 3_600_000;
const LIFETIMES: readonly (readonly [days: string, label: string])[] = [
  ["7", "7 days"],
  ["30", "30 days"],
  ["90", "90 days"],
  ["365", "1 year"],
];
/** Dangerous scopes, which the user must select explicitly. */
const NOT_PRESELECTED: readonly Scope[] = ["credentials:read", "keys:write"];

export const KeyForm = ({ onClose, onCreated, fallbackFocus }: Props) => (
  <Modal title="New API key" kind="form" onClose={onClose} fallbackFocus={fallbackFocus}>
    <Form onClose={onClose} onCreated={onCreated} />
  </Modal>
);

function Form({ onClose, onCreated }: Omit<Props, "fallbackFocus">) {
  const { vault, whoami } = useSession();
  const invalidate = useInvalidateKeys();
  const [name, setName] = useState("");
  const [days, setDays] = useState("");
  const [scopes, setScopes] = useState<readonly Scope[]>(
    whoami.scopes.filter((scope) => scope.endsWith(":read") && !NOT_PRESELECTED.includes(scope)),
  );
  const remainingMs = whoami.expiresAt === null ? Number.POSITIVE_INFINITY : Date.parse(whoami.expiresAt) - Date.now();
  const longestLabel = whoami.expiresAt === null ? "Never" : `With your key: ${formatExact(whoami.expiresAt)}`;
  const request = () => ({
    name: name.trim() || null,
    scopes,
    expiresAt: days === "" ? null : new Date(Date.now() + Number(days) * DAY_MS).toISOString(),
  });
  const creating = useSingleFlight({
    mutationFn: () => vault.keys.create(request()),
    onSuccess: (created) => {
      void invalidate();
      onCreated(created);
    },
  });
  const { error, isPending } = creating;
  const scopesFault = scopes.length === 0 ? "Choose at least one." : undefined;
  const localFaults = scopesFault ? [] : vault.keys.validateCreate(request());
  const { form, isSubmitted, faults, edit, submit } = useValidatedForm(
    creating,
    localFaults,
    localFaults.length === 0 && !scopesFault,
  );
  return (
    <form class="section" ref={form} onSubmit={submit(creating.run)} noValidate autocomplete="off">
      <p class="muted">
        A key of the account <strong>{whoami.account}</strong> for its <strong>{whoami.environment}</strong>{" "}
        environment.
      </p>
      <TextField
        label="Name (optional)"
        placeholder="Nightly export"
        hint="What the key is for."
        value={name}
        fault={findFaultMessage(faults, "/name")}
        onInput={(text) => edit(() => setName(text))}
      />
      <Select
        label="Expires"
        value={days}
        options={[["", longestLabel], ...LIFETIMES.filter(([days]) => Number(days) * DAY_MS < remainingMs)]}
        fault={findFaultMessage(faults, "/expiresAt")}
        onChange={(value) => edit(() => setDays(value))}
      />
      <ScopeCheckboxes
        legend="Scopes (at most those of your key)"
        options={whoami.scopes}
        value={scopes}
        fault={isSubmitted ? scopesFault : undefined}
        onChange={(newScopes) => edit(() => setScopes(newScopes))}
      />
      {error && <FormError error={error} hint="Check the list before you try again." />}
      <div class="buttons">
        <button type="button" aria-disabled={isPending} onClick={() => !creating.isInFlight() && onClose()}>
          Cancel
        </button>
        <button type="submit" class="primary" aria-disabled={isPending}>
          {isPending ? "Creating…" : "Create key"}
        </button>
      </div>
    </form>
  );
}
