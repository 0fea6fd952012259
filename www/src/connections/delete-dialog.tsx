import { NotFoundError, PreconditionError, type Connection } from "connector-vault/slim";
import { useState } from "preact/hooks";
import { Confirm } from "../components/confirm";
import { explainError } from "../components/error-message";
import { useSingleFlight } from "../components/use-single-flight";
import { useSession } from "../session/session";
import { useConnectionCache } from "./cache";

interface Props {
  connection: Connection;
  platform: string;
  onClose: () => void;
  /** Called with a message when the connection no longer exists. */
  onDeleted: (message: string) => void;
}

/** Deletes a connection after confirmation. If the connection has changed in the meantime, shows how and asks again. */
export function DeleteDialog({ connection, platform, onClose, onDeleted }: Props) {
  const { vault } = useSession();
  const { update } = useConnectionCache();
  const { id, key, identity, identityType } = connection;
  const [changes, setChanges] = useState<readonly string[]>();
  const deleting = useSingleFlight<Connection | undefined>({
    mutationFn: async () => {
      try {
        return void (await vault.connections.delete(id, { ifMatch: connection }));
      } catch (error) {
        if (!(error instanceof PreconditionError)) throw error;
        return vault.connections.get(id);
      }
    },
    onSuccess: (latest) => {
      if (!latest) return onDeleted(`The connection of ${identity} to ${platform} was deleted.`);
      setChanges(differences(connection, latest));
      update(latest);
    },
    onError: (error) =>
      error instanceof NotFoundError && onDeleted(`The connection of ${identity} to ${platform} was already deleted.`),
  });
  const { isPending } = deleting;
  return (
    <Confirm
      title="Delete this connection?"
      mutation={deleting}
      labels={{ cancel: "Keep it", confirm: "Delete connection", pending: "Deleting…" }}
      isDestructive
      errorText={(error) =>
        !(error instanceof NotFoundError) &&
        `${explainError(error).title}. ${explainError(error).detail} It may not have been deleted. Try again.`
      }
      onClose={onClose}
    >
      <p class="break-words">
        The {identityType} <strong>{identity}</strong> will no longer be connected to <strong>{platform}</strong>. This
        can't be undone.
      </p>
      <p class="break-words">
        <code>{key}</code>
      </p>
      {changes && !isPending && (
        <p class="note" data-tone="warn" role="alert">
          It was not deleted, because someone else has changed it. {changes.join(" ")} Delete it anyway?
        </p>
      )}
    </Confirm>
  );
}

/** Describes the differences between two versions of a connection in sentences. */
function differences(before: Connection, now: Connection): string[] {
  const fields = [
    ["name", (connection: Connection) => connection.name ?? "none"],
    ["state", (connection: Connection) => connection.state],
    ["active", (connection: Connection) => (connection.active ? "yes" : "no")],
    ["tags", (connection: Connection) => connection.tags.join(", ") || "none"],
  ] as const;
  return fields
    .filter(([, format]) => format(before) !== format(now))
    .map(([name, format]) => `Its ${name} is now: ${format(now)}.`);
}
