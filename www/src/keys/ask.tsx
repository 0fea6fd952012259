import type { ApiKey, ApiKeyWithSecret } from "connector-vault/slim";
import { NotFoundError } from "connector-vault/slim";
import { Ask } from "../parts/ask";
import { told } from "../parts/failure";
import { useOnce } from "../parts/once";
import { useSession } from "../session/session";
import { useKeysChanged } from "./hooks";

interface Props<Done> {
  apiKey: ApiKey;
  onClose: () => void;
  onDone: (done: Done) => void;
  focusAfter: () => HTMLElement | null;
}

export const nameOf = ({ id, name }: ApiKey) => name ?? id;

/** Asks before a key is revoked. `created`: how many valid keys were created with it. */
export function RevokeKey({ apiKey, created, onClose, onDone, focusAfter }: Props<void> & { created: number }) {
  const { vault } = useSession();
  const changed = useKeysChanged();
  const done = () => {
    if (!apiKey.current) void changed();
    onDone();
  };
  const revocation = useOnce({
    mutationFn: () => vault.keys.revoke(apiKey.id),
    onSuccess: done,
    onError: (error) => error instanceof NotFoundError && done(),
  });
  return (
    <Ask
      title="Revoke this key?"
      once={revocation}
      words={{ keep: "Keep it", confirm: "Revoke key", pending: "Revoking…" }}
      isDanger
      failure={(error) => !(error instanceof NotFoundError) && `${told(error)} It may not be revoked. Try again.`}
      onClose={onClose}
      focusAfter={focusAfter}
    >
      <p class="named">
        Requests with <strong>{nameOf(apiKey)}</strong> fail from now on, and so do its tokens. This can't be undone.
      </p>
      {created > 0 && (
        <p class="note" data-tone="warn">
          It has created {created === 1 ? "another key, which is" : `${created} other keys, which are`} revoked too.
        </p>
      )}
      {apiKey.current && (
        <p class="note" data-tone="warn">
          You are signed in with this key: you will be signed out.
        </p>
      )}
    </Ask>
  );
}

/** Asks before a key is replaced. */
export function RotateKey({ apiKey, onClose, onDone, focusAfter }: Props<ApiKeyWithSecret>) {
  const { vault } = useSession();
  const changed = useKeysChanged();
  const rotation = useOnce({
    mutationFn: () => vault.keys.rotate(apiKey.id),
    onSuccess: (rotated) => {
      void changed();
      onDone(rotated);
    },
  });
  return (
    <Ask
      title="Rotate this key?"
      once={rotation}
      words={{ keep: "Keep it", confirm: "Rotate key", pending: "Rotating…" }}
      failure={(error) => `${told(error)} The key may not be replaced. Look at the list before you try again.`}
      onClose={onClose}
      focusAfter={focusAfter}
    >
      <p class="named">
        A new key with the same scopes replaces <strong>{nameOf(apiKey)}</strong>, which stays valid for 24 hours. The
        new key doesn't live longer than this one, or than the key that you are signed in with.
      </p>
    </Ask>
  );
}
