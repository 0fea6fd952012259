import type { Connection, ConnectionState } from "connector-vault/slim";
import { STATES, STATE_MEANINGS } from "../parts/badge";
import { TextField } from "../parts/field";
import { Select } from "../parts/select";
import { Change, mergeOrAsk } from "./change";
import type { Part } from "./edit";
import { StateLine } from "./facts";

interface Values {
  state: ConnectionState;
  active: boolean;
  reason: string;
}

const changeOf = ({ state, active, reason }: Values) => ({
  state,
  active,
  ...(reason.trim() && { reason: reason.trim() }),
});

const STATE: Part<Values> = {
  name: "state",
  // A connection does not show the reason of its state, so it begins empty.
  valuesOf: ({ state, active }) => ({ state, active, reason: "" }),
  isSame: (some, others) =>
    some.state === others.state && some.active === others.active && some.reason === others.reason,
  write: (vault, over, values) => vault.connections.setState(over.id, changeOf(values), { ifMatch: over }),
  merge: mergeOrAsk,
};

/** What a state makes of `active`: what has failed is inactive until it works again. */
const activeIn = (state: ConnectionState, before: Values) =>
  state === "failed" ? false : before.state === "failed" ? true : before.active;

/** The state of a connection, and whether it is active, to be changed. */
export function ChangeState({ connection, onGone }: { connection: Connection; onGone: () => void }) {
  return (
    <Change
      connection={connection}
      part={STATE}
      what="state"
      onGone={onGone}
      validate={(vault, values) => vault.connections.validateSetState(changeOf(values))}
      worded={({ state, active }) => `${state}, ${active ? "active" : "inactive"}`}
      fields={(values, edit, fault) => (
        <div class="change-state">
          <Select
            label="State"
            hint={STATE_MEANINGS[values.state]}
            value={values.state}
            options={STATES.map((state) => [state, state] as const)}
            fault={fault("state")}
            onChange={(state) =>
              edit({ ...values, state: state as ConnectionState, active: activeIn(state as ConnectionState, values) })
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
          <div class="whole">
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
    </Change>
  );
}
