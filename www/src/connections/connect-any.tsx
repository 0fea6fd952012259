import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import { PlatformField, platformFault } from "../connectors/platform-field";
import { platformOf, type Platforms } from "../connectors/platforms";
import { Modal, useFocusFirst } from "../parts/modal";
import { ConnectAccount } from "./connect";

interface Props {
  platforms: Platforms | undefined;
  onClose: () => void;
}

/** Connects an account to a platform that is chosen first. */
export function ConnectAny({ platforms, onClose }: Props) {
  const [text, setText] = useState("");
  const [isTried, setTried] = useState(false);
  const [platform, setPlatform] = useState<string>();
  const form = useRef<HTMLFormElement>(null);
  useFocusFirst(form);
  const typed = text.trim();
  const chosen = platformOf(platforms, typed);
  const fault = typed === "" ? "Is required." : platformFault(platforms, typed, false);
  if (platform !== undefined)
    return (
      <ConnectAccount platform={platform} name={platformOf(platforms, platform)?.name ?? platform} onClose={onClose} />
    );
  const submit = (event: JSX.TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    setTried(true);
    if (fault === undefined) setPlatform(chosen?.platform ?? typed);
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
          hint={chosen?.name}
          fault={isTried ? fault : undefined}
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
