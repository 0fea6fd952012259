import type { Connection, ConnectionState } from "connector-vault/slim";
import { STATES, STATE_MEANINGS } from "../components/badge";
import { TextField } from "../components/field";
import { Select } from "../components/select";
import { StateLine } from "./details";
import { EditableField, mergeUnlessConflicting } from "./editable-field";
import type { EditablePart } from "./use-edit";

interface Values {
  state: ConnectionState;
  active: boolean;
  reason: string;
}

const toStateChange = ({ state, active, reason }: Values) => ({
  state,
  active,
  ...(reason.trim() && { reason: reason.trim() }),
});

const STATE_PART: EditablePart<Values> = {
  name: "state",
  // The API does not return the reason, so the field starts empty.
  getValues: ({ state, active }) => ({ state, active, reason: "" }),
  isEqual: (a, b) => a.state === b.state && a.active === b.active && a.reason === b.reason,
  save: (vault, version, values) => vault.connections.setState(version.id, toStateChange(values), { ifMatch: version }),
  merge: mergeUnlessConflicting,
};

/** Returns whether a connection is active after a change of its state. A failed connection is inactive. */
const activeAfter = (state: ConnectionState, before: Values) =>
  state === "failed" ? false : before.state === "failed" ? true : before.active;

export function EditState({ connection, onGone }: { connection: Connection; onGone: () => void }) {
  return (
    <EditableField
      connection={connection}
      part={STATE_PART}
      label="state"
      onGone={onGone}
      validate={(vault, values) => vault.connections.validateSetState(toStateChange(values))}
      format={({ state, active }) => `${state}, ${active ? "active" : "inactive"}`}
      fields={(values, edit, fault) => (
        <div class="edit-state">
          <Select
            label="State"
            hint={STATE_MEANINGS[values.state]}
            value={values.state}
            options={STATES.map((state) => [state, state] as const)}
            fault={fault("state")}
            onChange={(state) =>
              edit({
                ...values,
                state: state as ConnectionState,
                active: activeAfter(state as ConnectionState, values),
              })
            }
          />
          <label class="check">
            <input
              type="checkbox"
              checked={values.active}
              onChange={(event) => edit({ ...values, active: event.currentTarget.checked })}
            />{" "}
            Active
          </label>
          <div class="full-width">
            <TextField
              label="Reason (optional)"
              placeholder="Revoked by the user"
              value={values.reason}
              fault={fault("reason")}
              onInput={(reason) => edit({ ...values, reason })}
            />
          </div>
        </div>
      )}
    >
      <StateLine connection={connection} />
    </EditableField>
  );
}
