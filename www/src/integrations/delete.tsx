import { NotFoundError } from "connector-vault/slim";
import { told } from "../parts/failure";
import { Modal } from "../parts/modal";
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
  const { error, isPending } = deletion;
  const keep = () => !deletion.isAsked() && onClose();
  return (
    <Modal title={`Delete the OAuth client for ${name}?`} kind="alert" onClose={keep} focusAfter={focusAfter}>
      <div class="section">
        <p class="named">
          Its secret is erased. Until you set another client, nobody can connect to <strong>{name}</strong> through
          OAuth, and existing connections stop working when their access tokens expire.
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
            {isPending ? "Deleting…" : "Delete OAuth client"}
          </button>
        </div>
      </div>
    </Modal>
  );
}
