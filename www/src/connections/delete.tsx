import { NotFoundError, PreconditionError, type Connection } from "connector-vault/slim";
import { useState } from "preact/hooks";
import { Ask } from "../parts/ask";
import { explain } from "../parts/failure";
import { useOnce } from "../parts/once";
import { useSession } from "../session/session";
import { useTold } from "./kept";

interface Props {
  connection: Connection;
  /** What the platform is called. */
  platform: string;
  onClose: () => void;
  /** It is gone, as `what` tells. */
  onDeleted: (what: string) => void;
}

/** Asks before a connection is deleted, and deletes it as it was shown: what somebody else changed meanwhile is shown first. */
export function Delete({ connection, platform, onClose, onDeleted }: Props) {
  const { vault } = useSession();
  const { stored } = useTold();
  const { id, key, identity, identityType } = connection;
  const [changed, setChanged] = useState<readonly string[]>();
  const deletion = useOnce<Connection | undefined>({
    mutationFn: async () => {
      try {
        return void (await vault.connections.delete(id, { ifMatch: connection }));
      } catch (error) {
        if (!(error instanceof PreconditionError)) throw error;
        return vault.connections.get(id);
      }
    },
    onSuccess: (found) => {
      if (!found) return onDeleted(`The connection of ${identity} to ${platform} was deleted.`);
      setChanged(differences(connection, found));
      stored(found);
    },
    onError: (error) =>
      error instanceof NotFoundError && onDeleted(`The connection of ${identity} to ${platform} was already deleted.`),
  });
  const { isPending } = deletion;
  return (
    <Ask
      title="Delete this connection?"
      once={deletion}
      words={{ keep: "Keep it", confirm: "Delete connection", pending: "Deleting…" }}
      isDanger
      failure={(error) =>
        !(error instanceof NotFoundError) &&
        `${explain(error).title}. ${explain(error).detail} It may not be deleted. Try again.`
      }
      onClose={onClose}
    >
      <p class="named">
        The {identityType} <strong>{identity}</strong> will no longer be connected to <strong>{platform}</strong>. This
        can't be undone.
      </p>
      <p class="named">
        <code>{key}</code>
      </p>
      {changed && !isPending && (
        <p class="note" data-tone="warn" role="alert">
          It was not deleted, because somebody else has changed it. {changed.join(" ")} Delete it anyway?
        </p>
      )}
    </Ask>
  );
}

/** What two versions of a connection differ in, in sentences. */
function differences(before: Connection, now: Connection): string[] {
  const fields = [
    ["name", (of: Connection) => of.name ?? "none"],
    ["state", (of: Connection) => of.state],
    ["active", (of: Connection) => (of.active ? "yes" : "no")],
    ["tags", (of: Connection) => of.tags.join(", ") || "none"],
  ] as const;
  return fields
    .filter(([, read]) => read(before) !== read(now))
    .map(([name, read]) => `Its ${name} is now: ${read(now)}.`);
}
