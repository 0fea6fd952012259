import type { Connection } from "connector-vault/slim";
import { TextField } from "../parts/field";
import { Change, mergeOrAsk } from "./change";
import type { Part } from "./edit";

interface Values {
  name: string;
}

const nameOf = ({ name }: Values) => name.trim() || null;

const NAME: Part<Values> = {
  name: "name",
  valuesOf: ({ name }) => ({ name: name ?? "" }),
  isSame: (some, others) => some.name === others.name,
  write: (vault, over, values) => vault.connections.setName(over.id, nameOf(values), { ifMatch: over }),
  merge: mergeOrAsk,
};

/** The name of a connection, to be changed. */
export function ChangeName({ connection, onGone }: { connection: Connection; onGone: () => void }) {
  return (
    <Change
      connection={connection}
      part={NAME}
      what="name"
      onGone={onGone}
      validate={(vault, values) => vault.connections.validateSetName(nameOf(values))}
      worded={({ name }) => name || "none"}
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
    </Change>
  );
}
