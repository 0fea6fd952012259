import type { AuthField, AuthMethod, ConnectorDetail } from "connector-vault/slim";
import { type JSX, Fragment } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Logo } from "../parts/logo";
import { Entry, faultOf } from "./fields";
import { isAway, isForApp, isSaid } from "./methods";
import { Step } from "./step";
import { type Trouble, titleOf } from "./words";

export type Values = Record<string, string>;

/** A method, and what was entered for it. */
export interface Entered {
  method: AuthMethod;
  values: Values;
}

/** What the service has against what was entered. */
export interface Rejected {
  /** By the field's name. */
  faults: Values;
  trouble?: Trouble | undefined;
}

interface Props {
  connector: ConnectorDetail;
  isReconnect: boolean;
  app: string;
  /** What to begin with, for somebody who comes back from the platform. */
  entered: Entered | undefined;
  /** Sends it; returns what the service has against it. */
  onSubmit: (method: AuthMethod, values: Values) => Promise<Rejected | undefined>;
  onBack: (() => void) | undefined;
}

/** How to connect to a platform, and what it takes. */
export function Form({ connector, isReconnect, app, entered: before, onSubmit, onBack }: Props) {
  const { authMethods, name, image } = connector;
  const [method, setMethod] = useState(before?.method ?? (authMethods[0] as AuthMethod));
  const [values, setValues] = useState<Values>(() => ({ ...defaultsOf(authMethods), ...before?.values }));
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  // The names of the fields that the service turned out to need from the user.
  const [needed, setNeeded] = useState<readonly string[]>(() =>
    method.fields
      .filter((field) => mayBeSet(method, field) && before?.values[field.name] !== undefined)
      .map(({ name }) => name),
  );
  const [rejected, setRejected] = useState<Rejected>();
  const [isBusy, setBusy] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const alert = useRef<HTMLDivElement>(null);
  const isThere = useRef(true);
  useEffect(() => () => void (isThere.current = false), []);
  useEffect(() => {
    if (rejected?.trouble) alert.current?.focus();
    else if (rejected) form.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
  }, [rejected]);
  useEffect(() => {
    if (needed[0] !== undefined) form.current?.querySelector<HTMLElement>(`.field [name="${needed[0]}"]`)?.focus();
  }, [needed]);
  const away = isAway(method);
  const fields = method.fields.filter(
    (field) => !isForApp(connector, method, field) && (needed.includes(field.name) || !mayBeSet(method, field)),
  );
  const entered = (field: string) => (field === "password" ? values[field] : values[field]?.trim()) ?? "";
  const fault = (field: AuthField) =>
    (left.has(field.name) ? faultOf(field, entered(field.name)) : undefined) ?? rejected?.faults[field.name];
  const change = (field: string, value: string) => {
    setValues({ ...values, [field]: value });
    if (!rejected?.faults[field]) return;
    const { [field]: _, ...faults } = rejected.faults;
    setRejected({ faults });
  };
  const leave = (field: string) => values[field] && setLeft(new Set([...left, field]));

  const busy = away ? `Opening ${name} …` : `${name} is checking what you entered …`;
  const ask = `To continue to ${name}, fill this in:`;

  const submit = async (event: JSX.TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (isBusy) return;
    setLeft(new Set(fields.map((field) => field.name)));
    if (fields.some((field) => faultOf(field, entered(field.name)))) {
      setRejected({ faults: {} });
      return;
    }
    setBusy(true);
    setRejected(undefined);
    const given = fields.map((field) => [field.name, entered(field.name)]).filter(([, value]) => value !== "");
    const answer = await onSubmit(method, Object.fromEntries(given));
    if (!isThere.current) return;
    setBusy(false);
    const hidden = method.fields.filter((field) => !fields.includes(field)).map((field) => field.name);
    const missing = hidden.filter((field) => answer?.faults[field] !== undefined);
    if (missing.length === 0) return setRejected(answer);
    // Nobody has been asked for them, so nothing is wrong with them.
    setLeft(new Set());
    setNeeded([...missing, ...needed]);
  };

  return (
    <Step title={`${isReconnect ? "Reconnect" : "Connect"} ${name}`} mark={<Logo name={name} image={image} />}>
      <form ref={form} onSubmit={submit} noValidate autocomplete="off">
        {rejected?.trouble && (
          <div class="note" data-tone="bad" role="alert" tabIndex={-1} ref={alert}>
            <strong>{rejected.trouble.title}.</strong> {rejected.trouble.text}
          </div>
        )}
        {authMethods.length > 1 && (
          <fieldset class="methods">
            <legend>How do you want to connect?</legend>
            {authMethods.map((one) => (
              <label key={one.id} class="method">
                <input
                  type="radio"
                  name="method"
                  value={one.id}
                  checked={one === method}
                  onChange={() => {
                    setMethod(one);
                    setLeft(new Set());
                    setNeeded([]);
                    setRejected(undefined);
                  }}
                />
                {titleOf(one, name)}
              </label>
            ))}
          </fieldset>
        )}
        {needed.length > 0 && <p>{ask}</p>}
        {fields.map((field) => (
          <Fragment key={`${method.id} ${field.name}`}>
            <Entry
              field={field}
              value={values[field.name] ?? ""}
              fault={fault(field)}
              onInput={(value) => change(field.name, value)}
              onLeave={() => leave(field.name)}
            />
          </Fragment>
        ))}
        <p class="muted small">
          {away
            ? `You sign in at ${name} itself and see there what ${app} asks for.`
            : `What you enter is stored encrypted, so that ${app} can use ${name} on your behalf.`}
        </p>
        <div class="buttons">
          {onBack && (
            <button type="button" onClick={onBack}>
              Back
            </button>
          )}
          <button type="submit" class="primary" aria-disabled={isBusy}>
            {away ? `Continue to ${name}` : isBusy ? "Connecting …" : isReconnect ? "Reconnect" : "Connect"}
          </button>
        </div>
        <p class="visually-hidden" role="status">
          {isBusy ? busy : needed.length > 0 ? ask : ""}
        </p>
      </form>
    </Step>
  );
}

/**
 * Whether the app may have set a field's value for all users. The service knows, so the user is asked only once it turns out
 * to lack the value. A field that can stay empty is always shown, because the service would not miss it.
 */
const mayBeSet = (method: AuthMethod, field: AuthField) =>
  isSaid(method, field) || (method.type === "oauth2" && field.required && field.default === null);

const defaultsOf = (methods: readonly AuthMethod[]): Values =>
  Object.fromEntries(methods.flatMap(({ fields }) => fields.map((field) => [field.name, field.default ?? ""])));
