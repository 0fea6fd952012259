import type { EventType, Webhook, WebhookWithSecret } from "connector-vault/slim";
import { useState } from "preact/hooks";
import { findFaultMessage } from "../components/faults";
import { TextField } from "../components/field";
import { FormError } from "../components/form-error";
import { Modal } from "../components/modal";
import { useSingleFlight } from "../components/use-single-flight";
import { useValidatedForm } from "../components/use-validated-form";
import { EVENT_TYPES, eventLabel } from "../events/messages";
import { useSession } from "../session/session";
import { useInvalidateWebhooks } from "./hooks";

interface Props {
  /** The webhook to edit, or undefined to create one. */
  webhook: Webhook | undefined;
  onClose: () => void;
  onSaved: (webhook: Webhook | WebhookWithSecret) => void;
  fallbackFocus: () => HTMLElement | null;
}

const URL_HINT = "It must begin with https and have a public host name and no port.";
/** Whether the service was started with `npm start`. Then it may also send events to this machine. */
const isLocal = ["localhost", "127.0.0.1"].includes(location.hostname);

export function WebhookForm({ webhook, onClose, onSaved, fallbackFocus }: Props) {
  return (
    <Modal
      title={webhook ? "Edit the webhook" : "New webhook"}
      kind="form"
      onClose={onClose}
      fallbackFocus={fallbackFocus}
    >
      <Form webhook={webhook} onClose={onClose} onSaved={onSaved} />
    </Modal>
  );
}

function Form({ webhook, onClose, onSaved }: Omit<Props, "fallbackFocus">) {
  const { vault } = useSession();
  const invalidate = useInvalidateWebhooks();
  const [url, setUrl] = useState(webhook?.url ?? "");
  const [description, setDescription] = useState(webhook?.description ?? "");
  // An empty list means all types, including future ones.
  const [types, setTypes] = useState<readonly EventType[]>(webhook?.types.length ? webhook.types : EVENT_TYPES);
  const request = {
    url: url.trim(),
    description: description.trim() || null,
    types: EVENT_TYPES.every((type) => types.includes(type)) ? [] : types,
  };
  const saving = useSingleFlight<Webhook | WebhookWithSecret>({
    mutationFn: () => (webhook ? vault.webhooks.update(webhook.id, request) : vault.webhooks.create(request)),
    onSuccess: (saved) => {
      void invalidate();
      onSaved(saved);
    },
  });
  const { error, isPending } = saving;
  const localFaults = webhook ? vault.webhooks.validateUpdate(request) : vault.webhooks.validateCreate(request);
  const typesFault = types.length === 0 ? "Choose at least one." : undefined;
  const { form, isSubmitted, faults, edit, submit } = useValidatedForm(
    saving,
    localFaults,
    localFaults.length === 0 && !typesFault,
  );
  const toggle = (type: EventType) =>
    edit(() => setTypes(types.includes(type) ? types.filter((other) => other !== type) : [...types, type]));
  return (
    <form class="section" ref={form} onSubmit={submit(saving.run)} noValidate autocomplete="off">
      <TextField
        label="URL"
        type="url"
        aria-required="true"
        placeholder="https://app.example.com/webhooks"
        hint={isLocal ? `${URL_HINT} From this machine, http://localhost with any port works too.` : URL_HINT}
        value={url}
        fault={findFaultMessage(faults, "/url")}
        onInput={(text) => edit(() => setUrl(text))}
      />
      <TextField
        label="Description (optional)"
        value={description}
        fault={findFaultMessage(faults, "/description")}
        onInput={(text) => edit(() => setDescription(text))}
      />
      <fieldset class="checkbox-grid" data-invalid={isSubmitted && typesFault ? "" : undefined}>
        <legend class="label">Events to send</legend>
        {EVENT_TYPES.map((type) => (
          <label key={type} class="check">
            <input type="checkbox" checked={types.includes(type)} onChange={() => toggle(type)} /> {eventLabel(type)}
          </label>
        ))}
        <div aria-live="polite">
          {isSubmitted && (typesFault ?? findFaultMessage(faults, "/types")) && (
            <p class="field-error">{typesFault ?? findFaultMessage(faults, "/types")}</p>
          )}
        </div>
      </fieldset>
      {error && (
        <FormError
          error={error}
          hint="It may not have been saved. Close this form and check the list before you try again."
        />
      )}
      <div class="buttons">
        <button type="button" aria-disabled={isPending} onClick={() => !saving.isInFlight() && onClose()}>
          Cancel
        </button>
        <button type="submit" class="primary" aria-disabled={isPending}>
          {isPending ? "Saving…" : webhook ? "Save webhook" : "Create webhook"}
        </button>
      </div>
    </form>
  );
}
