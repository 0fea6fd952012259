import { NotFoundError, type Connection } from "connector-vault/slim";
import { explain } from "../parts/failure";
import { Modal } from "../parts/modal";
import { useOnce } from "../parts/once";
import { useSession } from "../session/session";

interface Props {
  connection: Connection;
  /** What the platform is called. */
  platform: string;
  onClose: () => void;
  /** It is gone, as `what` tells. */
  onDeleted: (what: string) => void;
}

/** Asks before a connection is deleted, and deletes it. */
export function Delete({ connection: { id, key, identity, identityType }, platform, onClose, onDeleted }: Props) {
  const { vault } = useSession();
  const deletion = useOnce({
    mutationFn: () => vault.connections.delete(id),
    onSuccess: () => onDeleted(`The connection of ${identity} to ${platform} is deleted.`),
    onError: (error) => error instanceof NotFoundError && onDeleted(`The connection of ${identity} to ${platform} had been deleted already.`),
  });
  const { error, isPending } = deletion;
  // What is under way can't be called back, from the very moment on: what is drawn says so only later.
  const keep = () => !deletion.isAsked() && onClose();
  return (
    <Modal title="Delete this connection?" kind="alert" onClose={keep}>
      <div class="section">
        <p class="named">The {identityType} <strong>{identity}</strong> will no longer be connected to <strong>{platform}</strong>. This can't be undone.</p>
        <p class="named"><code>{key}</code></p>
        {error && !(error instanceof NotFoundError) && <p class="note" data-tone="bad" role="alert">{explain(error).title}. {explain(error).detail} It may still be there: try again.</p>}
        <div class="buttons">
          <button type="button" aria-disabled={isPending} onClick={keep}>Keep it</button>
          <button type="button" class="danger primary" aria-disabled={isPending} onClick={() => deletion.ask()}>
            {isPending ? "Deleting…" : "Delete connection"}
          </button>
        </div>
      </div>
    </Modal>
  );
}
