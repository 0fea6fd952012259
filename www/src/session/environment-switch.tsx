// Switches between the test and live environment.
import type { Environment } from "connector-vault/slim";
import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import { useLocation } from "wouter-preact";
import { describeError } from "../components/error-message";
import { TextField } from "../components/field";
import { Modal, useFocusFirst } from "../components/modal";
import { useSingleFlight } from "../components/use-single-flight";
import { useSession } from "./session";
import { OtherAccountError, openOtherEnvironment } from "./store";
import { KEY_REJECTED, isUnauthorized } from "./vault";

const ENVIRONMENTS: readonly Environment[] = ["test", "live"];

/** Shows the current environment. Switches with the stored key of the other environment, or asks for a key. */
export function EnvironmentSwitch() {
  const { whoami } = useSession();
  const [path, navigate] = useLocation();
  const [isKeyRequired, setKeyRequired] = useState(false);
  // Without ids, which do not exist in the other environment.
  const view = `/${path.split("/")[1] ?? ""}`;
  const switching = useSingleFlight({
    mutationFn: () => openOtherEnvironment(),
    onSuccess: (hasSwitched) => (hasSwitched ? navigate(view) : setKeyRequired(true)),
    onError: () => setKeyRequired(true),
  });
  return (
    <>
      <span class="environments" role="group" aria-label="Environment">
        {ENVIRONMENTS.map((environment) => (
          <button
            key={environment}
            type="button"
            data-environment={environment}
            aria-pressed={environment === whoami.environment}
            onClick={() => environment !== whoami.environment && switching.run()}
          >
            {environment}
          </button>
        ))}
      </span>
      {isKeyRequired && (
        <Modal
          title={`Open the ${whoami.environment === "test" ? "live" : "test"} environment`}
          kind="form"
          onClose={() => setKeyRequired(false)}
        >
          <KeyForm onClose={() => setKeyRequired(false)} onDone={() => navigate(view)} />
        </Modal>
      )}
    </>
  );
}

function KeyForm({ onClose, onDone }: { onClose: () => void; onDone: () => void }) {
  const { whoami } = useSession();
  const otherEnvironment = whoami.environment === "test" ? "live" : "test";
  const form = useRef<HTMLFormElement>(null);
  useFocusFirst(form);
  const [secret, setSecret] = useState("");
  const [fault, setFault] = useState<string>();
  const switching = useSingleFlight({
    mutationFn: () => openOtherEnvironment(secret.trim()),
    onSuccess: onDone,
    onError: (error) => {
      setFault(
        isUnauthorized(error)
          ? KEY_REJECTED
          : error instanceof OtherAccountError
            ? `This key belongs to the account ${error.account}. Sign out to use it.`
            : describeError(error),
      );
      form.current?.querySelector("input")?.focus();
    },
  });
  const submit = (event: JSX.TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (!secret.trim().startsWith(`sk_${otherEnvironment}_`)) {
      setFault(`Enter an API key of the ${otherEnvironment} environment: it begins with sk_${otherEnvironment}_.`);
      form.current?.querySelector("input")?.focus();
    } else switching.run();
  };
  return (
    <form class="section" ref={form} onSubmit={submit} noValidate autocomplete="off">
      {whoami.person !== undefined && (
        <p>You signed in to this environment only. The other one has a sign-in address of its own, or needs a key.</p>
      )}
      <p>This tab keeps the keys of both environments until you sign out, so that you can switch between them.</p>
      <TextField
        label={`API key of the ${otherEnvironment} environment`}
        type="password"
        placeholder={`sk_${otherEnvironment}_…`}
        value={secret}
        fault={fault}
        onInput={(text) => {
          setSecret(text);
          setFault(undefined);
        }}
      />
      <div class="buttons">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="submit" class="primary" aria-disabled={switching.isPending}>
          {switching.isPending ? "Opening…" : `Open ${otherEnvironment}`}
        </button>
      </div>
    </form>
  );
}
