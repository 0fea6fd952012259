import type { Webhook, WebhookWithSecret } from "connector-vault/slim";
import { Confirm } from "../components/confirm";
import { ConfirmRemoval } from "../components/confirm-removal";
import { describeError } from "../components/error-message";
import { useSingleFlight } from "../components/use-single-flight";
import { useSession } from "../session/session";
import { useInvalidateWebhooks } from "./hooks";

interface Props<Done> {
  webhook: Webhook;
  onClose: () => void;
  onDone: (result: Done) => void;
  fallbackFocus: () => HTMLElement | null;
}

export function DeleteWebhook({ webhook, onDone, ...rest }: Props<void>) {
  const { vault } = useSession();
  const invalidate = useInvalidateWebhooks();
  return (
    <ConfirmRemoval
      {...rest}
      title="Delete this webhook?"
      labels={{ cancel: "Keep it", confirm: "Delete webhook", pending: "Deleting…" }}
      remove={() => vault.webhooks.delete(webhook.id)}
      hint="It may not have been deleted."
      onDone={() => {
        void invalidate();
        onDone();
      }}
    >
      <p class="break-words">
        <strong>{webhook.url}</strong> will receive no more events, and its deliveries will no longer be listed.
      </p>
    </ConfirmRemoval>
  );
}

export function RotateSecret({ webhook, onClose, onDone, fallbackFocus }: Props<WebhookWithSecret>) {
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
      fallbackFocus={fallbackFocus}
    >
      <p class="break-words">
        <strong>{webhook.url}</strong> gets a new secret. For 24 hours, events are signed with both, so that you can
        replace the old one.
      </p>
    </Confirm>
  );
}
