import type { AuthField, AuthMethod, ConnectorDetail } from "connector-vault/slim";
import { type JSX, Fragment } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Logo } from "../components/logo";
import { AuthFieldInput, validateField } from "./auth-field-input";
import { isRedirectMethod, isSetByApp, isReportedByPlatform } from "./auth-methods";
import { type FailureText, methodTitle } from "./messages";
import { FailureDetails } from "./outcome";
import { Step } from "./step";
import { language, translate } from "./texts";

export type Values = Record<string, string>;

/** Values that the app provides, by field name. The user can't change `fixed` values. */
export interface Presets {
  fields: Values;
  fixed: Values;
}

export interface FormState {
  method: AuthMethod;
  values: Values;
}

/** Why the service rejected the input. */
export interface Rejection {
  /** Error messages by field name. */
  faults: Values;
  failure?: FailureText | undefined;
}

interface Props {
  connector: ConnectorDetail;
  isReconnect: boolean;
  /** Whether the identity has a working connection to the platform. */
  isConnected: boolean;
  presets: Presets;
  /** The user's input from before the visit to the platform. */
  initialState: FormState | undefined;
  /** The ID of the auth method that is selected first. */
  firstMethod: string | undefined;
  /** Submits the form. Resolves with a `Rejection` if the service rejects the input. */
  onSubmit: (method: AuthMethod, values: Values) => Promise<Rejection | undefined>;
  onBack: (() => void) | undefined;
}

export function CredentialsForm({ connector, isReconnect, isConnected, presets, initialState: initial, ...on }: Props) {
  const { firstMethod, onSubmit, onBack } = on;
  const { authMethods, name, image } = connector;
  const [method, setMethod] = useState(
    initial?.method ?? authMethods.find(({ id }) => id === firstMethod) ?? (authMethods[0] as AuthMethod),
  );
  const [values, setValues] = useState<Values>(() => ({
    ...getDefaults(authMethods),
    ...presets.fields,
    ...initial?.values,
    ...presets.fixed,
  }));
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set());
  // Fields that are visible only because the service reported them as missing.
  const [requestedNames, setRequestedNames] = useState<readonly string[]>(() =>
    method.fields
      .filter((field) => canBePreset(method, field) && initial?.values[field.name] !== undefined)
      .map(({ name }) => name),
  );
  const [rejection, setRejection] = useState<Rejection>();
  const [isBusy, setBusy] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const alert = useRef<HTMLDivElement>(null);
  const isMounted = useRef(true);
  useEffect(() => () => void (isMounted.current = false), []);
  useEffect(() => {
    if (rejection?.failure) alert.current?.focus();
    else if (rejection) form.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
  }, [rejection]);
  useEffect(() => {
    if (requestedNames[0] !== undefined)
      form.current?.querySelector<HTMLElement>(`.field [name="${requestedNames[0]}"]`)?.focus();
  }, [requestedNames]);
  const isRedirect = isRedirectMethod(method);
  const fields = method.fields.filter(
    (field) =>
      !isSetByApp(connector, method, field) &&
      (requestedNames.includes(field.name) || isPreset(presets, field) || !canBePreset(method, field)),
  );
  const trimmedValue = (field: string) => (field === "password" ? values[field] : values[field]?.trim()) ?? "";
  const getFieldFault = (field: AuthField) =>
    (touched.has(field.name) ? validateField(field, trimmedValue(field.name)) : undefined) ??
    rejection?.faults[field.name];
  const change = (field: string, value: string) => {
    setValues({ ...values, [field]: value });
    if (!rejection?.faults[field]) return;
    const { [field]: _, ...faults } = rejection.faults;
    setRejection({ faults });
  };
  const markTouched = (field: string) => values[field] && setTouched(new Set([...touched, field]));

  const busyText = translate(isRedirect ? "form.opening" : "form.checking", { platform: name });
  const prompt = translate("form.prompt", { platform: name });

  const submit = async (event: JSX.TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (isBusy) return;
    setTouched(new Set(fields.map((field) => field.name)));
    if (fields.some((field) => validateField(field, trimmedValue(field.name)))) {
      setRejection({ faults: {} });
      return;
    }
    setBusy(true);
    setRejection(undefined);
    const enteredFields = fields.filter((field) => presets.fixed[field.name] === undefined);
    const filledValues = enteredFields
      .map((field) => [field.name, trimmedValue(field.name)])
      .filter(([, value]) => value !== "");
    const result = await onSubmit(method, Object.fromEntries(filledValues));
    if (!isMounted.current) return;
    setBusy(false);
    const hiddenNames = method.fields.filter((field) => !fields.includes(field)).map((field) => field.name);
    const missingNames = hiddenNames.filter((field) => result?.faults[field] !== undefined);
    if (missingNames.length === 0) return setRejection(result);
    // The user has not seen these fields yet, so hide their errors.
    setTouched(new Set());
    setRequestedNames([...missingNames, ...requestedNames]);
  };

  return (
    <Step
      title={translate(isReconnect ? "form.reconnectTitle" : "form.connectTitle", { platform: name })}
      icon={<Logo name={name} image={image} />}
    >
      <form ref={form} onSubmit={submit} noValidate autocomplete="off">
        {rejection?.failure && (
          <div class="note" data-tone="bad" role="alert" tabIndex={-1} ref={alert}>
            <strong>
              {rejection.failure.title}
              {language === "ja" ? "。" : "."}
            </strong>{" "}
            {rejection.failure.text}
            <FailureDetails failure={rejection.failure} />
          </div>
        )}
        {isConnected && (
          <p class="note" data-tone="good">
            {translate("failure.connection_exists.title", { platform: name })}
          </p>
        )}
        {authMethods.length > 1 && (
          <fieldset class="methods">
            <legend>{translate("form.method")}</legend>
            {authMethods.map((option) => (
              <label key={option.id} class="method">
                <input
                  type="radio"
                  name="method"
                  value={option.id}
                  checked={option === method}
                  onChange={() => {
                    setMethod(option);
                    setTouched(new Set());
                    setRequestedNames([]);
                    setRejection(undefined);
                  }}
                />
                {methodTitle(option, name)}
              </label>
            ))}
          </fieldset>
        )}
        {requestedNames.length > 0 && <p>{prompt}</p>}
        {fields.map((field) => (
          <Fragment key={`${method.id} ${field.name}`}>
            <AuthFieldInput
              field={field}
              value={values[field.name] ?? ""}
              fault={getFieldFault(field)}
              isFixed={presets.fixed[field.name] !== undefined}
              onInput={(value) => change(field.name, value)}
              onBlur={() => markTouched(field.name)}
            />
          </Fragment>
        ))}
        <p class="muted small">{translate(isRedirect ? "form.signInNote" : "form.storeNote", { platform: name })}</p>
        <div class="buttons">
          {onBack && (
            <button type="button" onClick={onBack}>
              {translate("back")}
            </button>
          )}
          <button type="submit" class="primary" aria-disabled={isBusy}>
            {isRedirect
              ? translate("form.continueTo", { platform: name })
              : translate(isBusy ? "form.connecting" : isReconnect ? "form.reconnect" : "form.connect")}
          </button>
        </div>
        <p class="visually-hidden" role="status">
          {isBusy ? busyText : requestedNames.length > 0 ? prompt : ""}
        </p>
      </form>
    </Step>
  );
}

const isPreset = ({ fields, fixed }: Presets, { name }: AuthField) =>
  fields[name] !== undefined || fixed[name] !== undefined;

/**
 * Whether the app may have set the value for all users. Only the service knows, so the field is hidden until the
 * service reports the value as missing. Optional fields are always visible, because the service never reports them.
 */
const canBePreset = (method: AuthMethod, field: AuthField) =>
  isReportedByPlatform(method, field) || (method.type === "oauth2" && field.required && field.default === null);

const getDefaults = (methods: readonly AuthMethod[]): Values =>
  Object.fromEntries(methods.flatMap(({ fields }) => fields.map((field) => [field.name, field.default ?? ""])));
