import { ConflictError, ValidationError, type Connection, type Fault, type NewConnection } from "connector-vault/slim";
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { platformFault } from "../connectors/platform-field";
import type { Platforms } from "../connectors/platforms";
import { explain } from "../parts/failure";
import { faultAt, faultsOf } from "../parts/faults";
import { Modal } from "../parts/modal";
import { useIsThere, useOnce } from "../parts/once";
import { useSession } from "../session/session";
import { Fields } from "./create-fields";
import { connectionOf, forgetForm, keyOf, useForm, type Form } from "./form";
import { useTold } from "./kept";

interface Props {
  platforms: Platforms | undefined;
  onClose: () => void;
  onCreated: (connection: Connection) => void;
  /** The address of a connection. */
  hrefOf: (id: string) => string;
}

/** Creates a connection. Its key, which can't be changed later, is shown while it is filled in. */
export function Create({ platforms, onClose, onCreated, hrefOf }: Props) {
  const { vault, who } = useSession();
  const { stored } = useTold();
  const { form, change } = useForm(who);
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set());
  const place = useRef<HTMLFormElement>(null);
  const wanted = connectionOf(form, platforms);
  const isThere = useIsThere();
  // Drawn first: the field is known by what is wrong with it.
  const focusFault = () =>
    requestAnimationFrame(() => place.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus());
  const creation = useOnce({
    mutationFn: (asked: NewConnection) => vault.connections.create(asked),
    onSuccess: (connection) => {
      forgetForm();
      stored(connection);
      if (isThere()) onCreated(connection);
    },
  });
  const { error, isPending } = creation;
  useEffect(() => {
    if (error instanceof ValidationError) focusFault();
  }, [error]);
  const own = vault.connections.validateCreate(wanted);
  const unknown = platformFault(platforms, form.platform, false);
  const faults: readonly Fault[] = [...own, ...faultsOf(error)];
  const shown = (name: keyof Form) => (touched.has(name) || error ? faultAt(faults, `/${name}`) : undefined);

  const edit = (changes: Partial<Form>) => {
    // What is being created can't be changed any more.
    if (creation.isAsked()) return;
    change(changes);
    touch(...Object.keys(changes).filter((name) => name !== "platform"));
    if (creation.isError) creation.reset();
  };
  const touch = (...names: string[]) => setTouched((before) => new Set([...before, ...names]));
  const submit = (event: JSX.TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (own.length === 0 && unknown === undefined) return creation.ask(wanted);
    touch(...Object.keys(form));
    focusFault();
  };
  // What is under way can't be called back.
  const leave = () => !creation.isAsked() && onClose();
  const cancel = () => {
    if (creation.isAsked()) return;
    forgetForm();
    onClose();
  };
  return (
    <Modal title="Add a record" kind="form" onClose={leave}>
      <form class="section" ref={place} onSubmit={submit} noValidate>
        <p class="muted">
          This records that an account is connected, without credentials. To have the vault hold them, use “Connect an
          account”.
        </p>
        <Fields
          form={form}
          fault={shown}
          faults={touched.has("tags") || touched.has("text") || error ? faults : []}
          platforms={platforms}
          who={who}
          onChange={edit}
          onLeave={(name) => touch(name)}
        />
        <p class="named small key-preview">
          <span class="muted">Key</span>{" "}
          <code>{keyOf(who.environment, unknown === undefined ? wanted : { ...wanted, platform: "" })}</code>
        </p>
        {error && <Refused error={error} hrefOf={hrefOf} />}
        <div class="buttons">
          <button type="button" aria-disabled={isPending} onClick={cancel}>
            Cancel
          </button>
          <button type="submit" class="primary" aria-disabled={isPending}>
            {isPending ? "Creating…" : "Create connection"}
          </button>
        </div>
      </form>
    </Modal>
  );
}

function Refused({ error, hrefOf }: { error: unknown; hrefOf: (id: string) => string }) {
  if (error instanceof ConflictError) {
    return (
      <p class="note" data-tone="warn" role="alert">
        A connection with this key already exists.{" "}
        {error.connectionId && (
          <>
            <Link href={hrefOf(error.connectionId)}>Open that connection</Link>, or{" "}
          </>
        )}
        {error.connectionId ? "choose" : "Choose"} another label.
      </p>
    );
  }
  const { title, detail } = explain(error);
  return (
    <p class="note" data-tone="bad" role="alert">
      {error instanceof ValidationError
        ? "The service rejected this. Check the marked fields above."
        : `${title}. ${detail} What you entered is kept. Check whether the connection was created before you try again.`}
    </p>
  );
}
