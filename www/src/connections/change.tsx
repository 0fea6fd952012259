import type { Connection, ConnectorVault, Fault } from "connector-vault/slim";
import type { ComponentChildren, JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import { faultAt, faultsOf } from "../parts/faults";
import { useSession } from "../session/session";
import { useEdit, type Clash, type Part } from "./edit";
import { mergeFields } from "./merge";
import { NotSaved } from "./not-saved";

interface Props<Values> {
  connection: Connection;
  part: Part<Values>;
  /** What is changed: "name", or "state". */
  what: string;
  onGone: () => void;
  /** What the service's rules have against values. */
  validate: (vault: ConnectorVault, values: Values) => readonly Fault[];
  /** What there is, as text: for who has to choose between two. */
  worded: (values: Values) => string;
  /** Shows what there is while nobody changes it. */
  children: ComponentChildren;
  /** The fields to change it. */
  fields: (
    values: Values,
    edit: (values: Values) => void,
    fault: (name: string) => string | undefined,
  ) => ComponentChildren;
}

/** A part of a connection, with a button that puts the fields to change it in its place. */
export function Change<Values extends object>({
  connection,
  part,
  what,
  onGone,
  validate,
  worded,
  children,
  fields,
}: Props<Values>) {
  const { vault } = useSession();
  const [isOpened, setOpened] = useState(false);
  const [said, setSaid] = useState("");
  const button = useRef<HTMLButtonElement>(null);
  const form = useRef<HTMLFormElement>(null);
  // Once it is drawn.
  const focusOn = (target: () => HTMLElement | null | undefined) => requestAnimationFrame(() => target()?.focus());
  const close = (message: string) => {
    setOpened(false);
    setSaid(message);
    focusOn(() => button.current);
  };
  const { values, isChanged, isBusy, error, clash, edit, save, discard } = useEdit(connection, part, {
    onSaved: () => close("Saved."),
    onGone,
  });
  const own = isChanged ? validate(vault, values) : [];
  const faults = [...own, ...faultsOf(error)];
  const canSave = isChanged && own.length === 0;
  const submit = (event: JSX.TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (canSave) save();
  };
  const cancel = () => discard() && close("");
  if (!isOpened && !isChanged) {
    return (
      <div class="changeable">
        {children}
        <button
          type="button"
          class="link"
          ref={button}
          onClick={() => {
            setOpened(true);
            setSaid("");
            focusOn(() => form.current?.querySelector<HTMLElement>("input, select"));
          }}
        >
          Change<span class="visually-hidden"> the {what}</span>
        </button>
        <span class="small saved" role="status">
          {said}
        </span>
      </div>
    );
  }
  if (clash)
    return (
      <Choose
        clash={clash}
        part={part}
        what={what}
        isBusy={isBusy}
        worded={worded}
        onSave={(wanted) => save(wanted, clash.theirs)}
        onKeep={() => discard(clash.theirs) && close("Your change is discarded.")}
      />
    );
  return (
    <form class="section change-form" ref={form} aria-label={`Change the ${what}`} onSubmit={submit} noValidate>
      {fields(values, edit, (name) => faultAt(faults, `/${name}`))}
      <div class="buttons">
        <button type="submit" class="primary" aria-disabled={!canSave || isBusy}>
          {isBusy ? "Saving…" : `Save ${what}`}
        </button>
        <button type="button" aria-disabled={isBusy} onClick={cancel}>
          Cancel
        </button>
      </div>
      {error && <NotSaved error={error} rest="Your changes are still here, but not saved yet." />}
    </form>
  );
}

interface ChooseProps<Values> extends Pick<Props<Values>, "part" | "what" | "worded"> {
  clash: Clash<Values>;
  isBusy: boolean;
  onSave: (values: Values) => void;
  onKeep: () => void;
}

/** Two have changed the same field to different values: one has to choose. */
function Choose<Values extends object>({
  clash: { base, theirs, mine },
  part,
  what,
  isBusy,
  worded,
  onSave,
  onKeep,
}: ChooseProps<Values>) {
  const { merged } = mergeFields(part.valuesOf(base), part.valuesOf(theirs), mine);
  return (
    <div class="conflict" role="alert">
      <p>
        <strong>Somebody else has changed the {what}.</strong> Your change is not saved yet.
      </p>
      <dl class="facts">
        <dt>Before</dt>
        <dd>{worded(part.valuesOf(base))}</dd>
        <dt>Theirs, saved</dt>
        <dd>{worded(part.valuesOf(theirs))}</dd>
        <dt>Yours, not saved</dt>
        <dd>{worded(merged)}</dd>
      </dl>
      <div class="choices">
        <button type="button" aria-disabled={isBusy} onClick={onKeep}>
          Keep theirs
        </button>
        <button type="button" class="primary" aria-disabled={isBusy} onClick={() => onSave(merged)}>
          Save mine
        </button>
      </div>
    </div>
  );
}

/** Merges field by field; where both changed one, a person has to choose. */
export function mergeOrAsk<Values extends object>(base: Values, theirs: Values, mine: Values): Values | undefined {
  const { merged, clashes } = mergeFields(base, theirs, mine);
  return clashes.length === 0 ? merged : undefined;
}
