import { ConflictError, ValidationError, type Connection, type Fault, type NewConnection } from "connector-vault/slim";
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { findFaultMessage, getFaults } from "../components/faults";
import { FormError } from "../components/form-error";
import { Modal } from "../components/modal";
import { useIsMounted, useSingleFlight } from "../components/use-single-flight";
import { findPlatformFault } from "../connectors/platform-field";
import type { Platforms } from "../connectors/platforms";
import { useSession } from "../session/session";
import { useConnectionCache } from "./cache";
import { CreateFields } from "./create-fields";
import { toConnection, clearForm, previewKey, useCreateForm, type CreateForm } from "./create-form";

interface Props {
  platforms: Platforms | undefined;
  onClose: () => void;
  onCreated: (connection: Connection) => void;
  /** Returns the URL of a connection. */
  getHref: (id: string) => string;
}

/** A dialog that creates a connection record. Shows its future key, which can't be changed later. */
export function CreateDialog({ platforms, onClose, onCreated, getHref }: Props) {
  const { vault, whoami } = useSession();
  const { update } = useConnectionCache();
  const { form, change } = useCreateForm(whoami);
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set());
  const formElement = useRef<HTMLFormElement>(null);
  const request = toConnection(form, platforms);
  const isMounted = useIsMounted();
  // Wait until the invalid fields are rendered as such.
  const focusFirstFault = () =>
    requestAnimationFrame(() => formElement.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus());
  const creating = useSingleFlight({
    mutationFn: (connection: NewConnection) => vault.connections.create(connection),
    onSuccess: (connection) => {
      clearForm();
      update(connection);
      if (isMounted()) onCreated(connection);
    },
  });
  const { error, isPending } = creating;
  useEffect(() => {
    if (error instanceof ValidationError) focusFirstFault();
  }, [error]);
  const localFaults = vault.connections.validateCreate(request);
  const unknownPlatform = findPlatformFault(platforms, form.platform, false);
  const faults: readonly Fault[] = [...localFaults, ...getFaults(error)];
  const findVisibleFault = (name: keyof CreateForm) =>
    touched.has(name) || error ? findFaultMessage(faults, `/${name}`) : undefined;

  const edit = (changes: Partial<CreateForm>) => {
    // Ignore changes while the request is in flight.
    if (creating.isInFlight()) return;
    change(changes);
    markTouched(...Object.keys(changes).filter((name) => name !== "platform"));
    if (creating.isError) creating.reset();
  };
  const markTouched = (...names: string[]) => setTouched((touchedNames) => new Set([...touchedNames, ...names]));
  const submit = (event: JSX.TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (localFaults.length === 0 && unknownPlatform === undefined) return creating.run(request);
    markTouched(...Object.keys(form));
    focusFirstFault();
  };
  // A request in flight can't be cancelled.
  const close = () => !creating.isInFlight() && onClose();
  const cancel = () => {
    if (creating.isInFlight()) return;
    clearForm();
    onClose();
  };
  return (
    <Modal title="Add a record" kind="form" onClose={close}>
      <form class="section" ref={formElement} onSubmit={submit} noValidate>
        <p class="muted">
          This adds a record of a connected account, without credentials. To store credentials in the vault, use
          “Connect an account”.
        </p>
        <CreateFields
          form={form}
          fault={findVisibleFault}
          faults={touched.has("tags") || touched.has("text") || error ? faults : []}
          platforms={platforms}
          whoami={whoami}
          onChange={edit}
          onBlur={(name) => markTouched(name)}
        />
        <p class="break-words small key-preview">
          <span class="muted">Key</span>{" "}
          <code>
            {previewKey(whoami.environment, unknownPlatform === undefined ? request : { ...request, platform: "" })}
          </code>
        </p>
        {error && <CreateError error={error} getHref={getHref} />}
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

function CreateError({ error, getHref }: { error: unknown; getHref: (id: string) => string }) {
  if (error instanceof ConflictError) {
    return (
      <p class="note" data-tone="warn" role="alert">
        A connection with this key already exists.{" "}
        {error.connectionId && (
          <>
            <Link href={getHref(error.connectionId)}>Open that connection</Link>, or{" "}
          </>
        )}
        {error.connectionId ? "choose" : "Choose"} another label.
      </p>
    );
  }
  return (
    <FormError
      error={error}
      hint="Your input is kept. Check whether the connection was created before you try again."
    />
  );
}
