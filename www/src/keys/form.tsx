import type { ApiKeyWithSecret, Scope } from "connector-vault/slim";
import { useState } from "preact/hooks";
import { useCheckedForm } from "../parts/checked-form";
import { told } from "../parts/failure";
import { faultAt, faultsOf } from "../parts/faults";
import { TextField } from "../parts/field";
import { Modal } from "../parts/modal";
import { useOnce } from "../parts/once";
import { Select } from "../parts/select";
import { exact } from "../parts/when";
import { useSession } from "../session/session";
import { useKeysChanged } from "./hooks";

interface Props {
  onClose: () => void;
  onCreated: (key: ApiKeyWithSecret) => void;
  focusAfter: () => HTMLElement | null;
}

const DAY_MS = 24 * 3_600_000;
const LIFETIMES: readonly (readonly [days: string, word: string])[] = [
  ["7", "7 days"],
  ["30", "30 days"],
  ["90", "90 days"],
  ["365", "1 year"],
];
/** What is dangerous in wrong hands is chosen on purpose. */
const CHOSEN_ON_PURPOSE: readonly Scope[] = ["credentials:read", "keys:write"];

/** Creates a key. */
export const KeyForm = ({ onClose, onCreated, focusAfter }: Props) => (
  <Modal title="New API key" kind="form" onClose={onClose} focusAfter={focusAfter}>
    <Form onClose={onClose} onCreated={onCreated} />
  </Modal>
);

function Form({ onClose, onCreated }: Omit<Props, "focusAfter">) {
  const { vault, who } = useSession();
  const changed = useKeysChanged();
  const [name, setName] = useState("");
  const [days, setDays] = useState("");
  const [scopes, setScopes] = useState<readonly Scope[]>(
    who.scopes.filter((scope) => scope.endsWith(":read") && !CHOSEN_ON_PURPOSE.includes(scope)),
  );
  const left = who.expiresAt === null ? Number.POSITIVE_INFINITY : Date.parse(who.expiresAt) - Date.now();
  const longest = who.expiresAt === null ? "Never" : `With your key: ${exact(who.expiresAt)}`;
  const wanted = () => ({
    name: name.trim() || null,
    scopes,
    expiresAt: days === "" ? null : new Date(Date.now() + Number(days) * DAY_MS).toISOString(),
  });
  const creating = useOnce({
    mutationFn: () => vault.keys.create(wanted()),
    onSuccess: (created) => {
      void changed();
      onCreated(created);
    },
  });
  const { error, isPending } = creating;
  const none = scopes.length === 0 ? "Choose at least one." : undefined;
  const own = none ? [] : vault.keys.validateCreate(wanted());
  const { form, isTried, faults, edit, submit } = useCheckedForm(creating, own, own.length === 0 && !none);
  const toggle = (scope: Scope) =>
    edit(() => setScopes(scopes.includes(scope) ? scopes.filter((one) => one !== scope) : [...scopes, scope]));
  return (
    <form class="section" ref={form} onSubmit={submit(creating.ask)} noValidate autocomplete="off">
      <p class="muted">
        A key of the account <strong>{who.account}</strong> for its <strong>{who.environment}</strong> environment.
      </p>
      <TextField
        label="Name (optional)"
        placeholder="Nightly export"
        hint="What the key is for."
        value={name}
        fault={faultAt(faults, "/name")}
        onInput={(text) => edit(() => setName(text))}
      />
      <Select
        label="Expires"
        value={days}
        options={[["", longest], ...LIFETIMES.filter(([days]) => Number(days) * DAY_MS < left)]}
        fault={faultAt(faults, "/expiresAt")}
        onChange={(value) => edit(() => setDays(value))}
      />
      <fieldset class="types" data-wrong={isTried && none ? "" : undefined}>
        <legend class="label">Scopes, of those that your key has</legend>
        {who.scopes.map((scope) => (
          <label key={scope} class="check">
            <input type="checkbox" checked={scopes.includes(scope)} onChange={() => toggle(scope)} />{" "}
            <code>{scope}</code>
          </label>
        ))}
        <div aria-live="polite">{isTried && none && <p class="problem">{none}</p>}</div>
      </fieldset>
      {error && (
        <p class="note" data-tone="bad" role="alert">
          {faultsOf(error).length > 0
            ? "The service rejected this. Check the marked fields above."
            : `${told(error)} Look at the list before you try again.`}
        </p>
      )}
      <div class="buttons">
        <button type="button" aria-disabled={isPending} onClick={() => !creating.isAsked() && onClose()}>
          Cancel
        </button>
        <button type="submit" class="primary" aria-disabled={isPending}>
          {isPending ? "Creating…" : "Create key"}
        </button>
      </div>
    </form>
  );
}
