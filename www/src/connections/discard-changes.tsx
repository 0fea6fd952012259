import type { ComponentChildren } from "preact";
import { Modal } from "../components/modal";

interface Props {
  onKeep: () => void;
  onDiscard: () => void;
  /** Says which changes are not saved. */
  children: ComponentChildren;
}

/** A dialog that asks for confirmation before unsaved changes are discarded. */
export const DiscardChanges = ({ onKeep, onDiscard, children }: Props) => (
  <Modal title="Discard your changes?" kind="alert" onClose={onKeep}>
    <div class="section">
      <p class="break-words">{children}</p>
      <div class="buttons">
        <button type="button" onClick={onKeep}>
          Keep editing
        </button>
        <button type="button" class="danger" onClick={onDiscard}>
          Discard changes
        </button>
      </div>
    </div>
  </Modal>
);
