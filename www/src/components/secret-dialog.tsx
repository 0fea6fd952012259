import type { ComponentChildren } from "preact";
import { CopyButton } from "./copy-button";
import { Modal } from "./modal";

interface Props {
  title: string;
  secret: string;
  onClose: () => void;
  fallbackFocus: () => HTMLElement | null;
  /** Explains what the secret is for. */
  children: ComponentChildren;
}

/** Shows a new secret. Only its button closes the dialog, because the secret can't be shown again. */
export const SecretDialog = ({ title, secret, onClose, fallbackFocus, children }: Props) => (
  <Modal title={title} kind="alert" mustConfirm onClose={onClose} fallbackFocus={fallbackFocus}>
    <div class="section">
      <p>
        {children} Store it now: <strong>it is shown only once.</strong>
      </p>
      <p class="copyable full-width">
        <code>{secret}</code> <CopyButton text={secret} label="Copy the secret" />
      </p>
      <div class="buttons">
        <button type="button" class="primary" onClick={onClose}>
          I have stored it
        </button>
      </div>
    </div>
  </Modal>
);
