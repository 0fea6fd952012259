import type { ApiKey, ApiKeyWithSecret } from "connector-vault/slim";
import { Confirm } from "../components/confirm";
import { ConfirmRemoval } from "../components/confirm-removal";
import { describeError } from "../components/error-message";
import { useSingleFlight } from "../components/use-single-flight";
import { useSession } from "../session/session";
import { useInvalidateKeys } from "./hooks";

interface Props<Done> {
  apiKey: ApiKey;
  onClose: () => void;
  onDone: (result: Done) => void;
  fallbackFocus: () => HTMLElement | null;
}

export const keyName = ({ id, name }: ApiKey) => name ?? id;

/** Revokes a key after confirmation. `createdKeys` is the number of valid keys that were created with it. */
export function RevokeKey({ apiKey, createdKeys, onDone, ...rest }: Props<void> & { createdKeys: number }) {
  const { vault } = useSession();
  const invalidate = useInvalidateKeys();
  return (
    <ConfirmRemoval
      {...rest}
      title="Revoke this key?"
      labels={{ cancel: "Keep it", confirm: "Revoke key", pending: "Revoking…" }}
      remove={() => vault.keys.revoke(apiKey.id)}
      hint="It may not have been revoked."
      onDone={() => {
        if (!apiKey.current) void invalidate();
        onDone();
      }}
    >
      <p class="break-words">
        Requests with <strong>{keyName(apiKey)}</strong> will fail from now on, and its tokens stop working. This can't
        be undone.
      </p>
      {createdKeys > 0 && (
        <p class="note" data-tone="warn">
          It has created {createdKeys === 1 ? "another key, which is" : `${createdKeys} other keys, which are`} revoked
          too.
        </p>
      )}
      {apiKey.current && (
        <p class="note" data-tone="warn">
          You are signed in with this key: you will be signed out.
        </p>
      )}
    </ConfirmRemoval>
  );
}

export function RotateKey({ apiKey, onClose, onDone, fallbackFocus }: Props<ApiKeyWithSecret>) {
  const { vault } = useSession();
  const invalidate = useInvalidateKeys();
  const rotation = useSingleFlight({
    mutationFn: () => vault.keys.rotate(apiKey.id),
    onSuccess: (rotated) => {
      void invalidate();
      onDone(rotated);
    },
  });
  return (
    <Confirm
      title="Rotate this key?"
      mutation={rotation}
      labels={{ cancel: "Keep it", confirm: "Rotate key", pending: "Rotating…" }}
      errorText={(error) =>
        `${describeError(error)} The key may not have been replaced. Check the list before you try again.`
      }
      onClose={onClose}
      fallbackFocus={fallbackFocus}
    >
      <p class="break-words">
        A new key with the same scopes replaces <strong>{keyName(apiKey)}</strong>, which stays valid for 24 hours. It
        expires no later than this key and the key that you are signed in with.
      </p>
    </Confirm>
  );
}
