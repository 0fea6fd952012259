// Which environment one is in, and the way into the other one.
import type { Environment } from "connector-vault/slim";
import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import { useLocation } from "wouter-preact";
import { told } from "../parts/failure";
import { TextField } from "../parts/field";
import { Modal, useFocusFirst } from "../parts/modal";
import { useOnce } from "../parts/once";
import { OtherAccountError, openOtherEnvironment } from "./store";
import { useSession } from "./session";
import { isRefused } from "./vault";

const ENVIRONMENTS: readonly Environment[] = ["test", "live"];

/** Says which environment is shown, and switches to the other one: with the key that this tab has of it, or with one to be typed. */
export function EnvironmentSwitch() {
  const { who } = useSession();
  const [path, navigate] = useLocation();
  const [isAsking, setAsking] = useState(false);
  // What has an id is not there in the other environment.
  const view = `/${path.split("/")[1] ?? ""}`;
  const switching = useOnce({
    mutationFn: () => openOtherEnvironment(),
    onSuccess: (isThere) => (isThere ? navigate(view) : setAsking(true)),
    onError: () => setAsking(true),
  });
  return (
    <>
      <span class="environments" role="group" aria-label="Environment">
        {ENVIRONMENTS.map((environment) => (
          <button
            key={environment}
            type="button"
            data-environment={environment}
            aria-pressed={environment === who.environment}
            onClick={() => environment !== who.environment && switching.ask()}
          >
            {environment}
          </button>
        ))}
      </span>
      {isAsking && (
        <Modal
          title={`Open the ${who.environment === "test" ? "live" : "test"} environment`}
          kind="form"
          onClose={() => setAsking(false)}
        >
          <KeyForm onClose={() => setAsking(false)} onDone={() => navigate(view)} />
        </Modal>
      )}
    </>
  );
}

function KeyForm({ onClose, onDone }: { onClose: () => void; onDone: () => void }) {
  const { who } = useSession();
  const other = who.environment === "test" ? "live" : "test";
  const form = useRef<HTMLFormElement>(null);
  useFocusFirst(form);
  const [secret, setSecret] = useState("");
  const [fault, setFault] = useState<string>();
  const opening = useOnce({
    mutationFn: () => openOtherEnvironment(secret.trim()),
    onSuccess: onDone,
    onError: (error) => {
      setFault(
        isRefused(error)
          ? "This key is not valid. It is mistyped, unknown, revoked or expired."
          : error instanceof OtherAccountError
            ? `This is a key of the account ${error.account}. Sign out to open it.`
            : told(error),
      );
      form.current?.querySelector("input")?.focus();
    },
  });
  const submit = (event: JSX.TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (!secret.trim().startsWith(`sk_${other}_`)) {
      setFault(`Enter an API key of the ${other} environment: it begins with sk_${other}_.`);
      form.current?.querySelector("input")?.focus();
    } else opening.ask();
  };
  return (
    <form class="section" ref={form} onSubmit={submit} noValidate autocomplete="off">
      <p>
        This tab keeps your keys of both environments side by side until you sign out, so that you can switch between
        them.
      </p>
      <TextField
        label={`API key of the ${other} environment`}
        type="password"
        placeholder={`sk_${other}_…`}
        value={secret}
        hint={
          <>
            To make one: <code>{`npm run keys -- create --account ${who.account} --environment ${other}`}</code>
          </>
        }
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
        <button type="submit" class="primary" aria-disabled={opening.isPending}>
          {opening.isPending ? "Opening…" : `Open ${other}`}
        </button>
      </div>
    </form>
  );
}
