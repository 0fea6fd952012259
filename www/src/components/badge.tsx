import type { ActionMethod, ConnectionState, ConnectorStatus, Whoami } from "connector-vault/slim";

/** Badge tones of states: `good`, `warn`, `bad`, `info` or none. */
const STATE_TONES: Record<ConnectionState, string> = {
  operational: "good",
  degraded: "warn",
  failed: "bad",
  unknown: "",
};
const STATUSES: Record<ConnectorStatus, [label: string, tone: string]> = {
  generally_available: ["Generally available", "good"],
  beta: ["Beta", "warn"],
  alpha: ["Alpha", "warn"],
  not_available: ["Not available", "bad"],
};
const METHODS: Record<ActionMethod, string> = { GET: "good", POST: "info", PUT: "warn", PATCH: "warn", DELETE: "bad" };

export const STATE_MEANINGS: Record<ConnectionState, string> = {
  operational: "Healthy and working",
  degraded: "A token refresh failed; a retry is pending",
  failed: "Does not work until the user reconnects it",
  unknown: "Could not be determined",
};

export const STATES = Object.keys(STATE_MEANINGS) as ConnectionState[];

export const StateBadge = ({ state }: { state: ConnectionState }) => (
  <span class="badge dot" data-tone={STATE_TONES[state]} title={STATE_MEANINGS[state]}>
    {state}
  </span>
);

export const StatusBadge = ({ status }: { status: ConnectorStatus }) => (
  <span class="badge" data-tone={STATUSES[status][1]}>
    {STATUSES[status][0]}
  </span>
);

export const MethodBadge = ({ method }: { method: ActionMethod }) => (
  <span class="badge method" data-tone={METHODS[method]}>
    {method}
  </span>
);

export const EnvironmentBadge = ({ environment }: Pick<Whoami, "environment">) => (
  <span class="badge" data-tone={environment === "live" ? "bad" : "info"}>
    <span class="visually-hidden">environment </span>
    {environment}
  </span>
);
