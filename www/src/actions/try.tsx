// Runs an action as one of the connections, with what somebody fills in.
import { useQuery } from "@tanstack/preact-query";
import type { ActionAnswer, ActionDetail, ActionInput, Connection } from "connector-vault/slim";
import { useEffect, useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { Answer } from "../parts/answer";
import { CopyButton } from "../parts/copy";
import { Failure } from "../parts/failure";
import { faultAt, faultsOf } from "../parts/faults";
import { Field, TextField } from "../parts/field";
import { Modal } from "../parts/modal";
import { useOnce } from "../parts/once";
import { Select } from "../parts/select";
import { useSession } from "../session/session";
import type { Chosen } from "./code";
import { type Entry, type Filled, entriesOf, inputOf, wordOf } from "./input";
import { TONES } from "./responses";
import { type Definitions, inWords } from "./schema";

/** How many connections are looked at for credentials. */
const MOST = 20;
const TITLES = {
  path: "In the path",
  query: "In the query",
  header: "In headers",
  cookie: "In cookies",
  body: "Body",
} as const;

interface Props {
  action: ActionDetail;
  definitions: Definitions;
  /** Hears of what is chosen and filled in. */
  onChoice: (chosen: Chosen) => void;
}

/** The section; a form once somebody opens it. */
export function TryIt(props: Props) {
  const { may } = useSession();
  const [isOpen, setOpen] = useState(false);
  const missing = (["connections:read", "connections:call"] as const).find((scope) => !may(scope));
  return (
    <section class="section" aria-labelledby="try">
      <details class="responses" onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <h2 id="try">Try it</h2>
        </summary>
        {isOpen &&
          (missing ? (
            <p class="muted">
              Your key can't run actions: it lacks the scope <code>{missing}</code>.
            </p>
          ) : (
            <Choice {...props} />
          ))}
      </details>
    </section>
  );
}

/** The connections of the platform, one of which is used. */
function Choice(props: Props) {
  const { vault } = useSession();
  const { platform } = props.action;
  const query = useQuery({
    queryKey: ["try", platform],
    queryFn: async ({ signal }) => {
      const { rows, total } = await vault.connections.list({ platform, active: true, limit: MOST }, { signal });
      // Without credentials in the vault, nothing can be run.
      const statuses = await Promise.all(rows.map(({ id }) => vault.connections.status(id, { signal })));
      return { total, connections: rows.filter((_, at) => statuses[at]?.holdsCredentials) };
    },
  });
  return (
    <Answer query={query} what="the connections" rows={1}>
      {({ connections, total }) =>
        connections.length === 0 ? (
          <p class="muted">
            {total === 0
              ? "No account of this platform is connected."
              : `No connection to this platform has credentials in the vault${total > MOST ? `, of the ${MOST} newest` : ""}.`}{" "}
            <Link href={`/connectors/${encodeURIComponent(platform)}`}>Connect an account</Link>.
          </p>
        ) : (
          <Form {...props} connections={connections} />
        )
      }
    </Answer>
  );
}

interface Run {
  connection: Connection;
  input: ActionInput;
}

function Form({ action, definitions, onChoice, connections }: Props & { connections: Connection[] }) {
  const { vault } = useSession();
  const { key, method, title, input } = action;
  const entries = entriesOf(input, definitions);
  const [chosen, setChosen] = useState(connections[0]?.id ?? "");
  const [filled, setFilled] = useState<Filled>({});
  const [wrong, setWrong] = useState<Filled>({});
  const [asked, setAsked] = useState<Run>();
  const running = useOnce<ActionAnswer, Run>({
    mutationFn: ({ connection, input: given }) => vault.actions.run(connection.id, key, given),
  });
  const { data, error, isPending } = running;
  const found = faultsOf(error);
  const connection = connections.find(({ id }) => id === chosen);
  useEffect(() => onChoice({ connection: chosen, input: inputOf(entries, filled).input }), [chosen, filled]);

  const run = (event: SubmitEvent) => {
    event.preventDefault();
    const { input: given, faults } = inputOf(entries, filled);
    setWrong(faults);
    if (!connection || Object.keys(faults).length > 0) return;
    if (method === "GET") running.ask({ connection, input: given });
    else setAsked({ connection, input: given });
  };
  const fieldsOf = (some: readonly Entry[]) =>
    some.map((entry) => (
      <Filling
        key={entry.pointer}
        entry={entry}
        definitions={definitions}
        value={filled[entry.pointer] ?? ""}
        fault={wrong[entry.pointer] ?? faultAt(found, entry.pointer)}
        onChange={(text) => setFilled({ ...filled, [entry.pointer]: text })}
      />
    ));
  return (
    <>
      <form class="section try" aria-label={`Try ${title}`} onSubmit={run} noValidate>
        <Select
          label="Connection"
          value={chosen}
          options={connections.map(
            ({ id, identity, name }) => [id, name ? `${name} (${identity})` : identity] as const,
          )}
          onChange={setChosen}
        />
        {(["path", "query", "header", "cookie", "body"] as const).map((place) => {
          const here = entries.filter((entry) => entry.place === place);
          const [needed, others] = [here.filter((one) => one.isRequired), here.filter((one) => !one.isRequired)];
          if (here.length === 0) return null;
          return (
            <fieldset key={place}>
              <legend>{TITLES[place]}</legend>
              {fieldsOf(needed)}
              {others.length > 0 && needed.length > 0 ? (
                <details class="more">
                  <summary>
                    {others.length.toLocaleString("en")} optional<span class="visually-hidden"> {TITLES[place]}</span>
                  </summary>
                  <div class="section">{fieldsOf(others)}</div>
                </details>
              ) : (
                fieldsOf(others)
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
      {asked && (
        <Modal title={`Run ${title}?`} kind="alert" onClose={() => setAsked(undefined)}>
          <div class="section">
            <p class="named">
              This sends a <code>{method}</code> request to the platform as <strong>{asked.connection.identity}</strong>
              . It may change or delete data there.
            </p>
            <div class="buttons">
              <button type="button" onClick={() => setAsked(undefined)}>
                Cancel
              </button>
              <button
                type="button"
                class="primary"
                onClick={() => {
                  running.ask(asked);
                  setAsked(undefined);
                }}
              >
                Run it
              </button>
            </div>
          </div>
        </Modal>
      )}
      {error && !isPending && <Failure error={error} />}
      {data && !isPending && <Answered answer={data} />}
    </>
  );
}

interface FillingProps {
  entry: Entry;
  definitions: Definitions;
  value: string;
  fault: string | undefined;
  onChange: (text: string) => void;
}

function Filling({ entry, definitions, value, fault, onChange }: FillingProps) {
  const { name = "Body", kind, isRequired, schema, values } = entry;
  const label = isRequired ? name : `${name} (optional)`;
  const hint = kind === "json" ? `JSON: ${inWords(schema, definitions)}` : inWords(schema, definitions);
  if (kind === "choice") {
    const options = [
      ["", isRequired ? "Choose" : "Left out"] as const,
      ...values.map((one, at) => [String(at), wordOf(one)] as const),
    ];
    return <Select label={label} value={value} options={options} fault={fault} onChange={onChange} />;
  }
  if (kind === "json")
    return (
      <Field label={label} hint={hint} fault={fault}>
        {(ties) => (
          <textarea
            {...ties}
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

/** What the platform answers. */
function Answered({ answer: { status, headers, body, bodyTooLarge } }: { answer: ActionAnswer }) {
  const text = typeof body === "string" ? body : JSON.stringify(body, undefined, 2);
  return (
    <section class="section" aria-label="Answer">
      <p class="property-head" role="status">
        <span class="badge method" data-tone={TONES[String(status).charAt(0)] ?? ""}>
          {status}
        </span>
        <span>The platform answered.</span>
      </p>
      <details class="more">
        <summary>Headers</summary>
        <dl class="facts">
          {Object.entries(headers).map(([name, value]) => [
            <dt key={`${name}-name`}>{name}</dt>,
            <dd key={name}>{value}</dd>,
          ])}
        </dl>
      </details>
      {bodyTooLarge ? (
        <p class="muted">The body has more than 8 MiB: call the platform through the proxy to get it.</p>
      ) : body === null ? (
        <p class="muted">No body.</p>
      ) : (
        <div class="snippet">
          <CopyButton text={text} label="Copy the body" />
          <pre tabIndex={0} aria-label="Body of the answer">
            <code>{text}</code>
          </pre>
        </div>
      )}
    </section>
  );
}
