import { NotFoundError, PreconditionError, type Connection } from "connector-vault/slim";
import { useState } from "preact/hooks";
import { Confirm } from "../components/confirm";
import { describeError } from "../components/error-message";
import { findPageHeading } from "../components/page";
import { useSingleFlight } from "../components/use-single-flight";
import { useConnectionCache } from "../connections/cache";
import { useSession } from "../session/session";
import { useCanConnect } from "./connect";

interface Props {
  connection: Connection;
  platformName: string;
  onClose: () => void;
  /** Called with a message when the connection no longer exists. */
  onDone: (message: string) => void;
}

/** A dialog that deletes a connection after confirmation, unless the connection has changed in the meantime. */
export function Disconnect({ connection, platformName, onClose, onDone }: Props) {
  const { vault } = useSession();
  const canConnect = useCanConnect();
  const { update, remove } = useConnectionCache();
  const [current, setCurrent] = useState(connection);
  const finish = (message: string) => {
    onClose();
    onDone(message);
    remove(connection.id);
  };
  const deletion = useSingleFlight({
    mutationFn: async () => {
      try {
        await vault.connections.delete(current.id, { ifMatch: current });
      } catch (error) {
        if (error instanceof PreconditionError) {
          const latest = await vault.connections.get(current.id);
          setCurrent(latest);
          update(latest);
        }
        throw error;
      }
    },
    onSuccess: () => finish(`${platformName} is disconnected.`),
    onError: (error) => error instanceof NotFoundError && finish(`${platformName} was already disconnected.`),
  });
  return (
    <Confirm
      title={`Disconnect ${platformName}?`}
      mutation={deletion}
      labels={{ cancel: "Keep it", confirm: "Disconnect", pending: "Disconnecting…" }}
      isDestructive
      errorText={(error) =>
        !(error instanceof PreconditionError || error instanceof NotFoundError) &&
        `${describeError(error)} It may still be connected. Try again.`
      }
      onClose={onClose}
      fallbackFocus={findPageHeading}
    >
      <p class="break-words">
        <strong>{platformName}</strong> will no longer be connected. You can connect it again{" "}
        {canConnect ? "here" : "where you got your link"}.
      </p>
      {deletion.error instanceof PreconditionError && (
        <p class="note" data-tone="warn" role="alert">
          It was changed a moment ago and is still connected. Disconnect it anyway?
        </p>
      )}
    </Confirm>
  );
}
