import { NotFoundError } from "connector-vault/slim";
import { Ask } from "../parts/ask";
import { told } from "../parts/failure";
import { useOnce } from "../parts/once";
import { useSession } from "../session/session";
import { useClientsChanged } from "./clients";

interface Props {
  platform: string;
  /** What the platform is called. */
  name: string;
  onClose: () => void;
  onDeleted: () => void;
  focusAfter: () => HTMLElement | null;
}

/** Asks before an OAuth client is deleted. */
export function DeleteClient({ platform, name, onClose, onDeleted, focusAfter }: Props) {
  const { vault } = useSession();
  const changed = useClientsChanged();
  const done = () => {
    void changed();
    onDeleted();
  };
  const deletion = useOnce({
    mutationFn: () => vault.oauthClients.delete(platform),
    onSuccess: done,
    // Somebody else was faster.
    onError: (error) => error instanceof NotFoundError && done(),
  });
  return (
    <Ask
      title={`Delete the OAuth client for ${name}?`}
      once={deletion}
      words={{ keep: "Keep it", confirm: "Delete OAuth client", pending: "Deleting…" }}
      isDanger
      failure={(error) => !(error instanceof NotFoundError) && `${told(error)} It may not be deleted. Try again.`}
      onClose={onClose}
      focusAfter={focusAfter}
    >
      <p class="named">
        Its secret is erased. Until you set another client, nobody can connect to <strong>{name}</strong> through OAuth,
        and existing connections stop working when their access tokens expire.
      </p>
    </Ask>
  );
}
