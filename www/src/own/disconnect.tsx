import { NotFoundError, PreconditionError, type Connection } from "connector-vault/slim";
import { useState } from "preact/hooks";
import { useTold } from "../connections/kept";
import { told } from "../parts/failure";
import { Modal } from "../parts/modal";
import { useOnce } from "../parts/once";
import { useSession } from "../session/session";

const heading = () => document.querySelector<HTMLElement>("h1");

interface Props {
  connection: Connection;
  /** What its platform is called. */
  called: string;
  onClose: () => void;
  /** It is gone, as `what` tells. */
  onDone: (what: string) => void;
}

/** Asks before a connection is deleted, and deletes it as it was seen. */
export function Disconnect({ connection, called, onClose, onDone }: Props) {
  const { vault } = useSession();
  const { stored, removed } = useTold();
  const [seen, setSeen] = useState(connection);
  const done = (what: string) => {
    onClose();
    onDone(what);
    removed(connection.id);
  };
  const deletion = useOnce({
    mutationFn: async () => {
      try {
        await vault.connections.delete(seen.id, { ifMatch: seen });
      } catch (error) {
        if (error instanceof PreconditionError) {
          const current = await vault.connections.get(seen.id);
          setSeen(current);
          stored(current);
        }
        throw error;
      }
    },
    onSuccess: () => done(`${called} is disconnected.`),
    onError: (error) => error instanceof NotFoundError && done(`${called} was already disconnected.`),
  });
  const { error, isPending } = deletion;
  // What is under way can't be called back.
  const keep = () => !deletion.isAsked() && onClose();
  return (
    <Modal title={`Disconnect ${called}?`} kind="alert" onClose={keep} focusAfter={heading}>
      <div class="section">
        <p class="named">
          <strong>{called}</strong> will no longer be connected. You can connect it again where you got your link.
        </p>
        {error instanceof PreconditionError && (
          <p class="note" data-tone="warn" role="alert">
            It was changed a moment ago, and is still connected. Disconnect it anyway?
          </p>
        )}
        {error && !(error instanceof PreconditionError || error instanceof NotFoundError) && (
          <p class="note" data-tone="bad" role="alert">
            {told(error)} It may still be connected. Try again.
          </p>
        )}
        <div class="buttons">
          <button type="button" aria-disabled={isPending} onClick={keep}>
            Keep it
          </button>
          <button type="button" class="danger primary" aria-disabled={isPending} onClick={() => deletion.ask()}>
            {isPending ? "Disconnecting…" : "Disconnect"}
          </button>
        </div>
      </div>
    </Modal>
  );
}
