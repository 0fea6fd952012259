import type { Webhook, WebhookWithSecret } from "connector-vault/slim";
import { NotFoundError } from "connector-vault/slim";
import { CopyButton } from "../parts/copy";
import { told } from "../parts/failure";
import { Modal } from "../parts/modal";
import { useOnce } from "../parts/once";
import { useSession } from "../session/session";
import { useWebhooksChanged } from "./hooks";

interface Props<Done> {
  webhook: Webhook;
  onClose: () => void;
  onDone: (done: Done) => void;
  focusAfter: () => HTMLElement | null;
}

/** Asks before a webhook is deleted. */
export function DeleteWebhook({ webhook, onClose, onDone, focusAfter }: Props<void>) {
  const { vault } = useSession();
  const changed = useWebhooksChanged();
  const done = () => {
    void changed();
    onDone();
  };
  const deletion = useOnce({
    mutationFn: () => vault.webhooks.delete(webhook.id),
    onSuccess: done,
    // Somebody else was faster.
    onError: (error) => error instanceof NotFoundError && done(),
  });
  const { error, isPending } = deletion;
  const keep = () => !deletion.isAsked() && onClose();
  return (
    <Modal title="Delete this webhook?" kind="alert" onClose={keep} focusAfter={focusAfter}>
      <div class="section">
        <p class="named">
          No more events are sent to <strong>{webhook.url}</strong>, and its deliveries are no longer listed.
        </p>
        {error && !(error instanceof NotFoundError) && (
          <p class="note" data-tone="bad" role="alert">
            {told(error)} It may not be deleted. Try again.
          </p>
        )}
        <div class="buttons">
          <button type="button" aria-disabled={isPending} onClick={keep}>
            Keep it
          </button>
          <button type="button" class="danger primary" aria-disabled={isPending} onClick={() => deletion.ask()}>
            {isPending ? "Deleting…" : "Delete webhook"}
          </button>
        </div>
      </div>
    </Modal>
  );
}

/** Asks before a webhook gets another secret. */
export function RotateSecret({ webhook, onClose, onDone, focusAfter }: Props<WebhookWithSecret>) {
  const { vault } = useSession();
  const changed = useWebhooksChanged();
  const rotation = useOnce({
    mutationFn: () => vault.webhooks.rotate(webhook.id),
    onSuccess: (rotated) => {
      void changed();
      onDone(rotated);
    },
  });
  const { error, isPending } = rotation;
  const keep = () => !rotation.isAsked() && onClose();
  return (
    <Modal title="Rotate the secret?" kind="alert" onClose={keep} focusAfter={focusAfter}>
      <div class="section">
        <p class="named">
          <strong>{webhook.url}</strong> gets a new secret. For 24 hours, events are signed with both, so that you can
          replace the old one.
        </p>
        {error && (
          <p class="note" data-tone="bad" role="alert">
            {told(error)} The secret may not be replaced. Try again.
          </p>
        )}
        <div class="buttons">
          <button type="button" aria-disabled={isPending} onClick={keep}>
            Keep the secret
          </button>
          <button type="button" class="primary" aria-disabled={isPending} onClick={() => rotation.ask()}>
            {isPending ? "Rotating…" : "Rotate secret"}
          </button>
        </div>
      </div>
    </Modal>
  );
}

/** Shows a secret that was made just now. */
export function Secret({
  webhook,
  onClose,
  focusAfter,
}: Omit<Props<void>, "onDone" | "webhook"> & { webhook: WebhookWithSecret }) {
  return (
    <Modal title="The webhook's secret" kind="alert" onClose={onClose} focusAfter={focusAfter}>
      <div class="section">
        <p>
          Your receiver verifies with it that events come from here. Store it now:{" "}
          <strong>it is shown only once.</strong>
        </p>
        <p class="copied whole">
          <code>{webhook.secret}</code> <CopyButton text={webhook.secret} label="Copy the secret" />
        </p>
        <div class="buttons">
          <button type="button" class="primary" onClick={onClose}>
            I have stored it
          </button>
        </div>
      </div>
    </Modal>
  );
}
