import type { Connection, ConnectorVault, Fault } from "connector-vault/slim";
import type { ComponentChildren, JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import { findFaultMessage, getFaults } from "../components/faults";
import { useSession } from "../session/session";
import { mergeFields } from "./merge";
import { SaveError } from "./save-error";
import { useEdit, type Conflict, type EditablePart } from "./use-edit";

interface Props<Values> {
  connection: Connection;
  part: EditablePart<Values>;
  /** The label of the property: "name" or "state". */
  label: string;
  onGone: () => void;
  /** Validates the values without a request. */
  validate: (vault: ConnectorVault, values: Values) => readonly Fault[];
  /** Formats values for the conflict dialog. */
  format: (values: Values) => string;
  /** The property while it is not being edited. */
  children: ComponentChildren;
  /** Renders the form fields. */
  fields: (
    values: Values,
    edit: (values: Values) => void,
    fault: (name: string) => string | undefined,
  ) => ComponentChildren;
}

/** A property with an edit button, which replaces it with a form. */
export function EditableField<Values extends object>({
  connection,
  part,
  label,
  onGone,
  validate,
  format,
  children,
  fields,
}: Props<Values>) {
  const { vault } = useSession();
  const [isEditing, setEditing] = useState(false);
  const [status, setStatus] = useState("");
  const button = useRef<HTMLButtonElement>(null);
  const form = useRef<HTMLFormElement>(null);
  // Wait for rendering, because the target may not exist yet.
  const focusOn = (target: () => HTMLElement | null | undefined) => requestAnimationFrame(() => target()?.focus());
  const close = (message: string) => {
    setEditing(false);
    setStatus(message);
    focusOn(() => button.current);
  };
  const { values, isChanged, isBusy, error, conflict, edit, save, discard } = useEdit(connection, part, {
    onSaved: () => close("Saved."),
    onGone,
  });
  const localFaults = isChanged ? validate(vault, values) : [];
  const faults = [...localFaults, ...getFaults(error)];
  const canSave = isChanged && localFaults.length === 0;
  const submit = (event: JSX.TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (canSave) save();
  };
  const cancel = () => discard() && close("");
  if (!isEditing && !isChanged) {
    return (
      <div class="editable">
        {children}
        <button
          type="button"
          class="link"
          ref={button}
          onClick={() => {
            setEditing(true);
            setStatus("");
            focusOn(() => form.current?.querySelector<HTMLElement>("input, select"));
          }}
        >
          Change<span class="visually-hidden"> the {label}</span>
        </button>
        <span class="small saved" role="status">
          {status}
        </span>
      </div>
    );
  }
  if (conflict)
    return (
      <ConflictChoice
        conflict={conflict}
        part={part}
        label={label}
        isBusy={isBusy}
        format={format}
        onSave={(chosen) => save(chosen, conflict.theirs)}
        onKeepTheirs={() => discard(conflict.theirs) && close("Your change is discarded.")}
      />
    );
  return (
    <form class="section edit-form" ref={form} aria-label={`Change the ${label}`} onSubmit={submit} noValidate>
      {fields(values, edit, (name) => findFaultMessage(faults, `/${name}`))}
      <div class="buttons">
        <button type="submit" class="primary" aria-disabled={!canSave || isBusy}>
          {isBusy ? "Saving…" : `Save ${label}`}
        </button>
        <button type="button" aria-disabled={isBusy} onClick={cancel}>
          Cancel
        </button>
      </div>
      {error && <SaveError error={error} consequence="Your changes are still here, but not saved yet." />}
    </form>
  );
}

interface ConflictChoiceProps<Values> extends Pick<Props<Values>, "part" | "label" | "format"> {
  conflict: Conflict<Values>;
  isBusy: boolean;
  onSave: (values: Values) => void;
  onKeepTheirs: () => void;
}

/** Shows two concurrent changes of the same property, and lets the user choose one. */
function ConflictChoice<Values extends object>({
  conflict: { base, theirs, mine: own },
  part,
  label,
  isBusy,
  format,
  onSave,
  onKeepTheirs,
}: ConflictChoiceProps<Values>) {
  const { merged } = mergeFields(part.getValues(base), part.getValues(theirs), own);
  return (
    <div class="conflict" role="alert">
      <p>
        <strong>Someone else has changed the {label}.</strong> Your change is not saved yet.
      </p>
      <dl class="description-list">
        <dt>Before</dt>
        <dd>{format(part.getValues(base))}</dd>
        <dt>Theirs, saved</dt>
        <dd>{format(part.getValues(theirs))}</dd>
        <dt>Yours, not saved</dt>
        <dd>{format(merged)}</dd>
      </dl>
      <div class="choices">
        <button type="button" aria-disabled={isBusy} onClick={onKeepTheirs}>
          Keep theirs
        </button>
        <button type="button" class="primary" aria-disabled={isBusy} onClick={() => onSave(merged)}>
          Save mine
        </button>
      </div>
    </div>
  );
}

/** Merges two changes field by field. Returns undefined if both changed the same field. */
export function mergeUnlessConflicting<Values extends object>(
  base: Values,
  theirs: Values,
  own: Values,
): Values | undefined {
  const { merged, conflicts } = mergeFields(base, theirs, own);
  return conflicts.length === 0 ? merged : undefined;
}
