import { ConfirmRemoval } from "../components/confirm-removal";
import { useSession } from "../session/session";
import { useInvalidateClients } from "./hooks";

interface Props {
  platform: string;
  name: string;
  onClose: () => void;
  onDeleted: () => void;
  fallbackFocus: () => HTMLElement | null;
}

export function DeleteClient({ platform, name, onDeleted, ...rest }: Props) {
  const { vault } = useSession();
  const invalidate = useInvalidateClients();
  return (
    <ConfirmRemoval
      {...rest}
      title={`Delete the OAuth client for ${name}?`}
      labels={{ cancel: "Keep it", confirm: "Delete OAuth client", pending: "Deleting…" }}
      remove={() => vault.oauthClients.delete(platform)}
      hint="It may not have been deleted."
      onDone={() => {
        void invalidate();
        onDeleted();
      }}
    >
      <p class="break-words">
        Its secret is erased. Until you set another client, users can't connect to <strong>{name}</strong> through
        OAuth, and existing connections stop working when their access tokens expire.
      </p>
    </ConfirmRemoval>
  );
}
