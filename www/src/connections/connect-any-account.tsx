import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import { Modal, useFocusFirst } from "../components/modal";
import { PlatformField, findPlatformFault } from "../connectors/platform-field";
import { findPlatform, type Platforms } from "../connectors/platforms";
import { ConnectAccount } from "./connect-account";

interface Props {
  platforms: Platforms | undefined;
  onClose: () => void;
}

/** A dialog that lets the user choose a platform, then connects an account. */
export function ConnectAnyAccount({ platforms, onClose }: Props) {
  const [text, setText] = useState("");
  const [isSubmitted, setSubmitted] = useState(false);
  const [platform, setPlatform] = useState<string>();
  const form = useRef<HTMLFormElement>(null);
  useFocusFirst(form);
  const trimmedText = text.trim();
  const match = findPlatform(platforms, trimmedText);
  const fault = trimmedText === "" ? "This is required." : findPlatformFault(platforms, trimmedText, false);
  if (platform !== undefined)
    return (
      <ConnectAccount
        platform={platform}
        name={findPlatform(platforms, platform)?.name ?? platform}
        onClose={onClose}
      />
    );
  const submit = (event: JSX.TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    setSubmitted(true);
    if (fault === undefined) setPlatform(match?.platform ?? trimmedText);
    else form.current?.querySelector("input")?.focus();
  };
  return (
    <Modal title="Connect an account" kind="form" onClose={onClose}>
      <form class="section" ref={form} onSubmit={submit} noValidate autocomplete="off">
        <PlatformField
          label="Platform"
          isRequired
          text={text}
          platforms={platforms}
          hint={match?.name}
          fault={isSubmitted ? fault : undefined}
          onInput={setText}
          onChoose={setText}
        />
        <div class="buttons">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary">
            Continue
          </button>
        </div>
      </form>
    </Modal>
  );
}
