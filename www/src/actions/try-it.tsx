// Runs an action with a connection and input of the user's choice.
import { useQuery } from "@tanstack/preact-query";
import type { ActionAnswer, ActionDetail, ActionInput, Connection, ConnectionWithAccount } from "connector-vault/slim";
import { useEffect, useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { accountName } from "../components/account-name";
import { CopyButton } from "../components/copy-button";
import { ErrorMessage } from "../components/error-message";
import { findFaultMessage, getFaults } from "../components/faults";
import { Field, TextField } from "../components/field";
import { Modal } from "../components/modal";
import { QueryView } from "../components/query-view";
import { Select } from "../components/select";
import { useSingleFlight } from "../components/use-single-flight";
import { useSession } from "../session/session";
import type { RunInput } from "./code-samples";
import { type InputField, type FieldValues, toInputFields, parseInput } from "./input-fields";
import { STATUS_TONES } from "./responses";
import { type Definitions, describeType, formatValue } from "./schema";

/** Maximum number of connections to check for credentials. Each check is a request. */
const MAX_CONNECTIONS = 20;
const LOCATION_TITLES = {
  path: "In the path",
  query: "In the query",
  header: "In headers",
  cookie: "In cookies",
  body: "Body",
} as const;

interface Props {
  action: ActionDetail;
  definitions: Definitions;
  /** Called when the user changes the connection or the input. */
  onInputChange: (input: RunInput) => void;
}

/** A collapsed section. Loads the form when the user opens it. */
export function TryIt(props: Props) {
  const { may, noun } = useSession();
  const [isOpen, setOpen] = useState(false);
  const missingScope = (["connections:read", "connections:call"] as const).find((scope) => !may(scope));
  return (
    <section class="section" aria-labelledby="try">
      <details class="responses" onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <h2 id="try">Try it</h2>
        </summary>
        {isOpen &&
          (missingScope ? (
            <p class="muted">
              Your {noun} can't run actions: it lacks the scope <code>{missingScope}</code>.
            </p>
          ) : (
            <ConnectionLoader {...props} />
          ))}
      </details>
    </section>
  );
}

/** Loads the platform's connections that have credentials. */
function ConnectionLoader(props: Props) {
  const { vault } = useSession();
  const { platform } = props.action;
  const query = useQuery({
    queryKey: ["try", platform],
    queryFn: async ({ signal }) => {
      const { rows, total } = await vault.connections.list(
        { platform, active: true, limit: MAX_CONNECTIONS, include: "account" },
        { signal },
      );
      // Offer only connections with credentials, because an action can't run without them.
      const statuses = await Promise.all(rows.map(({ id }) => vault.connections.status(id, { signal })));
      return { total, connections: rows.filter((_, index) => statuses[index]?.holdsCredentials) };
    },
  });
  return (
    <QueryView query={query} name="the connections" rows={1}>
      {({ connections, total }) =>
        connections.length === 0 ? (
          <p class="muted">
            {total === 0
              ? "No account of this platform is connected."
              : `No connection to this platform has credentials in the vault${total > MAX_CONNECTIONS ? `, of the ${MAX_CONNECTIONS} newest` : ""}.`}{" "}
            <Link href={`/connectors/${encodeURIComponent(platform)}`}>Connect an account</Link>.
          </p>
        ) : (
          <Form {...props} connections={connections} />
        )
      }
    </QueryView>
  );
}

interface PendingRun {
  connection: Connection;
  input: ActionInput;
}

function Form({ action, definitions, onInputChange, connections }: Props & { connections: ConnectionWithAccount[] }) {
  const { vault } = useSession();
  const { key, method, title, input } = action;
  const entries = toInputFields(input, definitions);
  const [connectionId, setConnectionId] = useState(connections[0]?.id ?? "");
  const [values, setValues] = useState<FieldValues>({});
  const [parseFaults, setParseFaults] = useState<FieldValues>({});
  const [confirming, setConfirming] = useState<PendingRun>();
  const running = useSingleFlight<ActionAnswer, PendingRun>({
    mutationFn: ({ connection, input }) => vault.actions.run(connection.id, key, input),
  });
  const { data, error, isPending } = running;
  const serverFaults = getFaults(error);
  const connection = connections.find(({ id }) => id === connectionId);
  useEffect(
    () => onInputChange({ connection: connectionId, input: parseInput(entries, values).input }),
    [connectionId, values],
  );

  const run = (event: SubmitEvent) => {
    event.preventDefault();
    const { input, faults } = parseInput(entries, values);
    setParseFaults(faults);
    if (!connection || Object.keys(faults).length > 0) return;
    if (method === "GET") running.run({ connection, input });
    else setConfirming({ connection, input });
  };
  const renderFields = (fields: readonly InputField[]) =>
    fields.map((entry) => (
      <FieldInput
        key={entry.pointer}
        entry={entry}
        definitions={definitions}
        value={values[entry.pointer] ?? ""}
        fault={parseFaults[entry.pointer] ?? findFaultMessage(serverFaults, entry.pointer)}
        onChange={(text) => setValues({ ...values, [entry.pointer]: text })}
      />
    ));
  return (
    <>
      <form class="section try-it-form" aria-label={`Try ${title}`} onSubmit={run} noValidate>
        <Select
          label="Connection"
          value={connectionId}
          options={connections.map((option) => [option.id, formatConnection(option)] as const)}
          onChange={setConnectionId}
        />
        {(["path", "query", "header", "cookie", "body"] as const).map((location) => {
          const fieldsHere = entries.filter((entry) => entry.location === location);
          const [requiredFields, optionalFields] = [
            fieldsHere.filter((entry) => entry.isRequired),
            fieldsHere.filter((entry) => !entry.isRequired),
          ];
          if (fieldsHere.length === 0) return null;
          return (
            <fieldset key={location}>
              <legend>{LOCATION_TITLES[location]}</legend>
              {renderFields(requiredFields)}
              {optionalFields.length > 0 && requiredFields.length > 0 ? (
                <details class="more">
                  <summary>
                    {optionalFields.length.toLocaleString("en")} optional
                    <span class="visually-hidden"> {LOCATION_TITLES[location]}</span>
                  </summary>
                  <div class="section">{renderFields(optionalFields)}</div>
                </details>
              ) : (
                renderFields(optionalFields)
              )}
            </fieldset>
          );
        })}
        <div class="buttons">
          <button type="submit" class="primary" aria-disabled={isPending}>
            {isPending ? "Running…" : "Run"}
          </button>
        </div>
      </form>
      {confirming && (
        <Modal title={`Run ${title}?`} kind="alert" onClose={() => setConfirming(undefined)}>
          <div class="section">
            <p class="break-words">
              This sends a <code>{method}</code> request to the platform as{" "}
              <strong>{confirming.connection.identity}</strong>. It may change or delete data there.
            </p>
            <div class="buttons">
              <button type="button" onClick={() => setConfirming(undefined)}>
                Cancel
              </button>
              <button
                type="button"
                class="primary"
                onClick={() => {
                  running.run(confirming);
                  setConfirming(undefined);
                }}
              >
                Run it
              </button>
            </div>
          </div>
        </Modal>
      )}
      {error && !isPending && <ErrorMessage error={error} />}
      {data && !isPending && <RunResult answer={data} />}
    </>
  );
}

/** A label that distinguishes the connections of an identity: name, account and label. */
function formatConnection({ identity, name, account, key }: ConnectionWithAccount): string {
  const title = name ?? (account && accountName(account));
  const label = key.split("::")[2];
  return `${title ? `${title} (${identity})` : identity}${label === "default" ? "" : `, ${label}`}`;
}

interface FieldInputProps {
  entry: InputField;
  definitions: Definitions;
  value: string;
  fault: string | undefined;
  onChange: (text: string) => void;
}

function FieldInput({ entry, definitions, value, fault, onChange }: FieldInputProps) {
  const { name = "Body", kind, isRequired, schema, values } = entry;
  const label = isRequired ? name : `${name} (optional)`;
  const hint = kind === "json" ? `JSON: ${describeType(schema, definitions)}` : describeType(schema, definitions);
  if (kind === "choice") {
    const options = [
      ["", isRequired ? "Choose" : "Omit"] as const,
      ...values.map((option, index) => [String(index), formatValue(option)] as const),
    ];
    return <Select label={label} value={value} options={options} fault={fault} onChange={onChange} />;
  }
  if (kind === "json")
    return (
      <Field label={label} hint={hint} fault={fault}>
        {(attributes) => (
          <textarea
            {...attributes}
            rows={3}
            spellcheck={false}
            value={value}
            onInput={(event) => onChange(event.currentTarget.value)}
          />
        )}
      </Field>
    );
  const mode = kind === "number" ? ("decimal" as const) : ("text" as const);
  return <TextField label={label} hint={hint} fault={fault} value={value} inputMode={mode} onInput={onChange} />;
}

function RunResult({ answer: { status, headers, body, bodyTooLarge } }: { answer: ActionAnswer }) {
  const text = typeof body === "string" ? body : JSON.stringify(body, undefined, 2);
  return (
    <section class="section" aria-label="Response">
      <p class="property-head" role="status">
        <span class="badge method" data-tone={STATUS_TONES[String(status).charAt(0)] ?? ""}>
          {status}
        </span>
        <span>The platform responded.</span>
      </p>
      <details class="more">
        <summary>Headers</summary>
        <dl class="description-list">
          {Object.entries(headers).map(([name, value]) => [
            <dt key={`${name}-name`}>{name}</dt>,
            <dd key={name}>{value}</dd>,
          ])}
        </dl>
      </details>
      {bodyTooLarge ? (
        <p class="muted">The body is larger than 8 MiB. Call the platform through the proxy to get it.</p>
      ) : body === null ? (
        <p class="muted">No body.</p>
      ) : (
        <div class="snippet">
          <CopyButton text={text} label="Copy the body" />
          <pre tabIndex={0} aria-label="Response body">
            <code>{text}</code>
          </pre>
        </div>
      )}
    </section>
  );
}
