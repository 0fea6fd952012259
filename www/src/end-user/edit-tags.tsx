import type { Connection } from "connector-vault/slim";
import { useState } from "preact/hooks";
import { Modal } from "../components/modal";
import { findPageHeading } from "../components/page";
import { useConnectionCache } from "../connections/cache";
import { DiscardChanges } from "../connections/discard-changes";
import { dropDraft, hasDraft } from "../connections/drafts";
import { Tags } from "../connections/tags";

interface Props {
  connection: Connection;
  title: string;
  onClose: () => void;
  /** Called when the connection no longer exists. */
  onGone: () => void;
}

/** A dialog to edit tags. Asks for confirmation before discarding changes. */
export function EditTags({ connection, title, onClose, onGone }: Props) {
  const { id } = connection;
  const { remove } = useConnectionCache();
  const [isLeaving, setLeaving] = useState(false);
  const close = () => (hasDraft(id) ? setLeaving(true) : onClose());
  const handleGone = () => {
    onClose();
    onGone();
    remove(id);
  };
  const discard = () => {
    dropDraft(id);
    onClose();
  };
  return (
    <Modal title={title} kind="form" onClose={close} fallbackFocus={findPageHeading}>
      <Tags connection={connection} onGone={handleGone} />
      {isLeaving && (
        <DiscardChanges onKeep={() => setLeaving(false)} onDiscard={discard}>
          Your changes to the tags of <strong>{title}</strong> are not saved.
        </DiscardChanges>
      )}
    </Modal>
  );
}
