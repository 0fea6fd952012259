import { NotFoundError, PreconditionError, type Connection } from "connector-vault/slim";
import { useState } from "preact/hooks";
import { useTold } from "../connections/kept";
import { Ask } from "../parts/ask";
import { told } from "../parts/failure";
import { useOnce } from "../parts/once";
import { useSession } from "../session/session";
import { useMayConnect } from "./connect";

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
  const mayConnect = useMayConnect();
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
  return (
    <Ask
      title={`Disconnect ${called}?`}
      once={deletion}
      words={{ keep: "Keep it", confirm: "Disconnect", pending: "Disconnecting…" }}
      isDanger
      failure={(error) =>
        !(error instanceof PreconditionError || error instanceof NotFoundError) &&
        `${told(error)} It may still be connected. Try again.`
      }
      onClose={onClose}
      focusAfter={heading}
    >
      <p class="named">
        <strong>{called}</strong> will no longer be connected. You can connect it again{" "}
        {mayConnect ? "here" : "where you got your link"}.
      </p>
      {deletion.error instanceof PreconditionError && (
        <p class="note" data-tone="warn" role="alert">
          It was changed a moment ago, and is still connected. Disconnect it anyway?
        </p>
      )}
    </Ask>
  );
}
