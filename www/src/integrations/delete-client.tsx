import { ConfirmRemoval } from "../components/confirm-removal";
import { useSession } from "../session/session";
import type { OauthClient } from "connector-vault/slim";
import { describeClient, useInvalidateClients } from "./hooks";

interface Props {
  client: OauthClient;
  /** The display name of the platform. */
  name: string;
  onClose: () => void;
  onDeleted: () => void;
  fallbackFocus: () => HTMLElement | null;
}

export function DeleteClient({ client, name, onDeleted, ...rest }: Props) {
  const { vault } = useSession();
  const invalidate = useInvalidateClients();
  return (
    <ConfirmRemoval
      {...rest}
      title={`Delete the ${describeClient(client.name, name)}?`}
      labels={{ cancel: "Keep it", confirm: "Delete OAuth client", pending: "Deleting…" }}
      remove={() => vault.oauthClients.delete(client.platform, { name: client.name })}
      hint="It may not have been deleted."
      onDone={() => {
        void invalidate();
        onDeleted();
      }}
    >
      <p class="break-words">
        Its secret is erased. Until you set it again, users can't connect to <strong>{name}</strong> with it, and its
        connections stop working when their access tokens expire.
      </p>
    </ConfirmRemoval>
  );
}
