// The dialogs for a link that a signed-in user opens: a choice between two sessions, or the reason why the link failed.
import { EnvironmentBadge } from "../components/badge";
import type { Whoami } from "connector-vault/slim";
import { X } from "lucide-preact";
import { useEffect, useRef } from "preact/hooks";
import { Modal } from "../components/modal";
import { LINK_ERRORS, isLinkError } from "./link-error-page";
import { decideOnLink, dismissNotice, type ActiveSession, type Reason } from "./store";

/** Asks which session to use. Closing the dialog keeps the current session. */
export function SwitchSession({ current, link }: { current: ActiveSession; link: ActiveSession }) {
  const stayButton = useRef<HTMLButtonElement>(null);
  useEffect(() => stayButton.current?.focus(), []);
  return (
    <Modal title="Open this link?" kind="alert" onClose={() => decideOnLink(false)}>
      <div class="section">
        <dl class="description-list sessions">
          <dt>You are signed in</dt>
          <dd>
            <SessionOwner whoami={current.whoami} />
          </dd>
          <dt>The link opens</dt>
          <dd>
            <SessionOwner whoami={link.whoami} />
          </dd>
        </dl>
        <p class="muted small">
          If you did not expect this link, stay signed in. Opening it affects only this tab, and discards what you have
          not saved here.
        </p>
        <div class="buttons">
          <button type="button" onClick={() => decideOnLink(true)}>
            Open the link
          </button>
          <button type="button" class="primary" ref={stayButton} onClick={() => decideOnLink(false)}>
            Stay signed in
          </button>
        </div>
      </div>
    </Modal>
  );
}

const SessionOwner = ({ whoami: { account, environment, identity, person } }: { whoami: Whoami }) => (
  <>
    {identity !== undefined ? (
      <>
        the connections of <strong>{identity}</strong> in the account
      </>
    ) : person !== undefined ? (
      <>
        as <strong>{person}</strong> in the account
      </>
    ) : (
      "with a key of the account"
    )}{" "}
    <strong>{account}</strong> <EnvironmentBadge environment={environment} />
  </>
);

export function LinkNotice({ reason }: { reason: Reason }) {
  const [title, advice] = isLinkError(reason)
    ? LINK_ERRORS[reason]
    : ["The link could not be opened", "The service can't be reached. Open it again in a moment."];
  return (
    <div class="banner notice">
      <p>
        <strong>{title}.</strong> {advice} You are still signed in as before.
      </p>
      <button
        type="button"
        class="icon"
        aria-label="Close this message"
        title="Close this message"
        onClick={dismissNotice}
      >
        <X size={18} aria-hidden="true" />
      </button>
    </div>
  );
}
