import type { Connection } from "connector-vault/slim";
import { useState } from "preact/hooks";
import { dropDraft, hasDraft } from "../connections/drafts";
import { useConnectionCache } from "../connections/cache";
import { Tags } from "../connections/tags";
import { Modal } from "../components/modal";

const heading = () => document.querySelector<HTMLElement>("h1");

interface Props {
  connection: Connection;
  title: string;
  onClose: () => void;
  /** Called when the connection no longer exists. */
  onGone: () => void;
}

/** Dialog to edit tags. Asks before discarding changes. */
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
    <Modal title={title} kind="form" onClose={close} fallbackFocus={heading}>
      <Tags connection={connection} onGone={handleGone} />
      {isLeaving && (
        <Modal title="Discard your changes?" kind="alert" onClose={() => setLeaving(false)}>
          <div class="section">
            <p class="named">
              Your changes to the tags of <strong>{title}</strong> are not saved.
            </p>
            <div class="buttons">
              <button type="button" onClick={() => setLeaving(false)}>
                Keep editing
              </button>
              <button type="button" class="danger" onClick={discard}>
                Discard changes
              </button>
            </div>
          </div>
        </Modal>
      )}
    </Modal>
  );
}
