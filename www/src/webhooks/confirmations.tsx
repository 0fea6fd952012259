import type { Webhook, WebhookWithSecret } from "connector-vault/slim";
import { NotFoundError } from "connector-vault/slim";
import { Confirm } from "../components/confirm";
import { describeError } from "../components/error-message";
import { useSingleFlight } from "../components/use-single-flight";
import { useSession } from "../session/session";
import { useInvalidateWebhooks } from "./hooks";

interface Props<Done> {
  webhook: Webhook;
  onClose: () => void;
  onDone: (finish: Done) => void;
  focusAfter: () => HTMLElement | null;
}

export function DeleteWebhook({ webhook, onClose, onDone, focusAfter }: Props<void>) {
  const { vault } = useSession();
  const invalidate = useInvalidateWebhooks();
  const done = () => {
    void invalidate();
    onDone();
  };
  const deletion = useSingleFlight({
    mutationFn: () => vault.webhooks.delete(webhook.id),
    onSuccess: done,
    // It was already deleted.
    onError: (error) => error instanceof NotFoundError && done(),
  });
  return (
    <Confirm
      title="Delete this webhook?"
      mutation={deletion}
      labels={{ cancel: "Keep it", confirm: "Delete webhook", pending: "Deleting…" }}
      isDestructive
      errorText={(error) =>
        !(error instanceof NotFoundError) && `${describeError(error)} It may not have been deleted. Try again.`
      }
      onClose={onClose}
      focusAfter={focusAfter}
    >
      <p class="named">
        <strong>{webhook.url}</strong> will receive no more events, and its deliveries will no longer be listed.
      </p>
    </Confirm>
  );
}

export function RotateSecret({ webhook, onClose, onDone, focusAfter }: Props<WebhookWithSecret>) {
  const { vault } = useSession();
  const invalidate = useInvalidateWebhooks();
  const rotation = useSingleFlight({
    mutationFn: () => vault.webhooks.rotate(webhook.id),
    onSuccess: (rotated) => {
      void invalidate();
      onDone(rotated);
    },
  });
  return (
    <Confirm
      title="Rotate the secret?"
      mutation={rotation}
      labels={{ cancel: "Keep the secret", confirm: "Rotate secret", pending: "Rotating…" }}
      errorText={(error) => `${describeError(error)} The secret may not have been replaced. Try again.`}
      onClose={onClose}
      focusAfter={focusAfter}
    >
      <p class="named">
        <strong>{webhook.url}</strong> gets a new secret. For 24 hours, events are signed with both, so that you can
        replace the old one.
      </p>
    </Confirm>
  );
}
