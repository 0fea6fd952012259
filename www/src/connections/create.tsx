import { ConflictError, ValidationError, type Connection, type Fault } from "connector-vault/slim";
import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import { Link } from "wouter-preact";
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

/** Creates a connection: first what it is, then whether it is meant. */
export function Create({ platforms, onClose, onCreated, hrefOf }: Props) {
  const { vault, who } = useSession();
  const { stored } = useTold();
  const { form, change } = useForm(who);
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set());
  const [isSure, setSure] = useState(false);
  const place = useRef<HTMLFormElement>(null);
  const wanted = connectionOf(form);
  const isThere = useIsThere();
  const creation = useOnce({
    mutationFn: () => vault.connections.create(wanted),
    onSuccess: (connection) => {
      forgetForm();
      stored(connection);
      if (isThere()) onCreated(connection);
    },
    // What the service alone knows, at its field too.
    onError: (error) => error instanceof ValidationError && setSure(false),
  });
  const { error, isPending } = creation;
  const own = vault.connections.validateCreate(wanted);
  const faults: readonly Fault[] = [...own, ...faultsOf(error)];
  const shown = (name: keyof Form) => (touched.has(name) || error ? faultAt(faults, `/${name}`) : undefined);
  const key = keyOf(who.environment, wanted);

  const edit = (changes: Partial<Form>) => {
    change(changes);
    touch(...Object.keys(changes));
    if (creation.isError) creation.reset();
  };
  const touch = (...names: string[]) => setTouched((before) => new Set([...before, ...names]));
  const submit = (event: JSX.TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (own.length === 0) return setSure(true);
    touch(...Object.keys(form));
    // Drawn first: the field is known by what is wrong with it.
    requestAnimationFrame(() => place.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus());
  };
  const cancel = () => {
    forgetForm();
    onClose();
  };
  // What is under way can't be called back.
  const back = () => !creation.isAsked() && setSure(false);
  if (isSure) {
    return (
      <Modal key="sure" title="Create this connection?" kind="alert" onClose={back}>
        <div class="section">
          <p class="named">The {form.identityType} <strong>{wanted.identity}</strong> will be connected to <strong>{platforms?.byName.get(wanted.platform)?.name ?? wanted.platform}</strong>, with the key</p>
          <p class="named"><code>{key}</code></p>
          {error && <Refused error={error} hrefOf={hrefOf} />}
          <div class="buttons">
            <button type="button" aria-disabled={isPending} onClick={back}>Back</button>
            <button type="button" class="primary" aria-disabled={isPending} onClick={() => creation.ask()}>{isPending ? "Creating…" : "Create connection"}</button>
          </div>
        </div>
      </Modal>
    );
  }
  return (
    <Modal key="form" title="New connection" kind="form" onClose={onClose}>
      <form class="section" ref={place} onSubmit={submit} noValidate>
        <Fields form={form} fault={shown} faults={touched.has("tags") || touched.has("text") || error ? faults : []} platforms={platforms} who={who} onChange={edit} onLeave={(name) => touch(name)} />
        {error && <Refused error={error} hrefOf={hrefOf} />}
        <div class="buttons">
          <button type="button" onClick={cancel}>Cancel</button>
          <button type="submit" class="primary">Continue</button>
        </div>
      </form>
    </Modal>
  );
}

function Refused({ error, hrefOf }: { error: unknown; hrefOf: (id: string) => string }) {
  if (error instanceof ConflictError) {
    return (
      <p class="note" data-tone="warn" role="alert">
        There is a connection with this key already.{" "}
        {error.connectionId && <Link href={hrefOf(error.connectionId)}>Open that connection</Link>} Or go back and choose another label.
      </p>
    );
  }
  const { title, detail } = explain(error);
  return (
    <p class="note" data-tone="bad" role="alert">
      {error instanceof ValidationError ? "The service refused this: see what is marked above." : `${title}. ${detail} What you have filled in is kept. Look whether the connection is there before you try again.`}
    </p>
  );
}
