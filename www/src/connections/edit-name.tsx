import type { Connection } from "connector-vault/slim";
import { TextField } from "../components/field";
import { EditableField, mergeUnlessConflicting } from "./editable-field";
import type { EditablePart } from "./use-edit";

interface Values {
  name: string;
}

const trimmedName = ({ name }: Values) => name.trim() || null;

const NAME_PART: EditablePart<Values> = {
  name: "name",
  getValues: ({ name }) => ({ name: name ?? "" }),
  isEqual: (a, b) => a.name === b.name,
  save: (vault, version, values) => vault.connections.setName(version.id, trimmedName(values), { ifMatch: version }),
  merge: mergeUnlessConflicting,
};

export function EditName({ connection, onGone }: { connection: Connection; onGone: () => void }) {
  return (
    <EditableField
      connection={connection}
      part={NAME_PART}
      label="name"
      onGone={onGone}
      validate={(vault, values) => vault.connections.validateSetName(trimmedName(values))}
      format={({ name }) => name || "none"}
      fields={({ name }, edit, fault) => (
        <TextField
          label="Name"
          value={name}
          hint="Leave it empty to remove the name."
          fault={fault("name")}
          onInput={(text) => edit({ name: text })}
        />
      )}
    >
      <span class={connection.name === null ? "muted" : ""}>{connection.name ?? "none"}</span>
    </EditableField>
  );
}
