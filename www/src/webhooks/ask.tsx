import type { Webhook, WebhookWithSecret } from "connector-vault/slim";
import { NotFoundError } from "connector-vault/slim";
import { Ask } from "../parts/ask";
import { told } from "../parts/failure";
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
  return (
    <Ask
      title="Delete this webhook?"
      once={deletion}
      words={{ keep: "Keep it", confirm: "Delete webhook", pending: "Deleting…" }}
      isDanger
      failure={(error) => !(error instanceof NotFoundError) && `${told(error)} It may not be deleted. Try again.`}
      onClose={onClose}
      focusAfter={focusAfter}
    >
      <p class="named">
        No more events are sent to <strong>{webhook.url}</strong>, and its deliveries are no longer listed.
      </p>
    </Ask>
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
  return (
    <Ask
      title="Rotate the secret?"
      once={rotation}
      words={{ keep: "Keep the secret", confirm: "Rotate secret", pending: "Rotating…" }}
      failure={(error) => `${told(error)} The secret may not be replaced. Try again.`}
      onClose={onClose}
      focusAfter={focusAfter}
    >
      <p class="named">
        <strong>{webhook.url}</strong> gets a new secret. For 24 hours, events are signed with both, so that you can
        replace the old one.
      </p>
    </Ask>
  );
}
