import { useQuery, useQueryClient } from "@tanstack/preact-query";
import {
  ConflictError,
  NotFoundError,
  type AuthField,
  type AuthMethod,
  type Connection,
  type ConnectorDetail,
  type IdentityType,
  type NewConnectAttempt,
  type PendingAttempt,
} from "connector-vault/slim";
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { CopyButton } from "../components/copy-button";
import { describeError } from "../components/error-message";
import { findFaultMessage, getFaults } from "../components/faults";
import { TextField } from "../components/field";
import { FormError } from "../components/form-error";
import { Modal, useFocusFirst } from "../components/modal";
import { QueryView } from "../components/query-view";
import { RelativeTime } from "../components/relative-time";
import { Select } from "../components/select";
import { useSingleFlight } from "../components/use-single-flight";
import { AuthFieldInput, validateField } from "../connect/auth-field-input";
import { isRedirectMethod, isSetByApp } from "../connect/auth-methods";
import { authMethodTitle } from "../connectors/auth-methods";
import { useConnector } from "../connectors/hooks";
import { clientHref, DEFAULT_CLIENT, useClients } from "../integrations/hooks";
import { useSession } from "../session/session";
import { useConnectionCache } from "./cache";
import { IDENTITY_TYPES } from "./filters";
import { statusKey } from "./status";

/** Long polling: how long the service may delay its response. Shorter than the console's request timeout. */
const WAIT_SECONDS = 10;
const PAUSE_MS = 1_000;

interface Props {
  platform: string;
  name: string;
  /** The connection to reconnect. Undefined to create one. */
  connection?: Connection;
  /** The ID of the connection's auth method, which is selected first. */
  authMethod?: string | null | undefined;
  onClose: () => void;
}

/** A dialog that connects an account, or reconnects an existing connection. */
export function ConnectAccount({ platform, name, connection, authMethod, onClose }: Props) {
  const query = useConnector(platform);
  return (
    <Modal
      title={connection ? `Reconnect ${connection.identity}` : `Connect an account to ${name}`}
      kind="form"
      onClose={onClose}
    >
      <QueryView query={query} name="the connector" rows={3}>
        {(found) =>
          "suggestions" in found || found.authMethods.length === 0 ? (
            <p>The catalog has no auth method for {name}.</p>
          ) : (
            <Steps connector={found} connection={connection} authMethod={authMethod} onClose={onClose} />
          )
        }
      </QueryView>
    </Modal>
  );
}

/** Contains secrets, so it exists only as long as the dialog. */
interface FormValues {
  identity: string;
  identityType: IdentityType;
  label: string;
  method: AuthMethod;
  /** Whether the user of this dialog enters the credentials. Otherwise, the account's owner does, with a link. */
  entersHere: boolean;
  values: Record<string, string>;
  /** The name of the OAuth client; empty for the connection's own client, or the default one. */
  client: string;
  allowsOtherAccount: boolean;
}

interface StepsProps {
  connector: ConnectorDetail;
  connection: Connection | undefined;
  authMethod?: Props["authMethod"];
  onClose: () => void;
}

/** The steps of the dialog: form, link for the user, outcome. */
function Steps({ connector, connection, authMethod, onClose }: StepsProps) {
  const { update } = useConnectionCache();
  const client = useQueryClient();
  const [values, setValues] = useState<FormValues>(() => ({
    identity: "",
    identityType: "user",
    label: "",
    method: connector.authMethods.find(({ id }) => id === authMethod) ?? (connector.authMethods[0] as AuthMethod),
    entersHere: false,
    values: {},
    client: "",
    allowsOtherAccount: false,
  }));
  const [pendingAttempt, setPendingAttempt] = useState<PendingAttempt>();
  const [connected, setConnected] = useState<Connection>();
  const finish = (connection: Connection) => {
    update(connection);
    void client.invalidateQueries({ queryKey: statusKey(connection.id) });
    setConnected(connection);
  };
  if (connected)
    return <Done connection={connected} name={connector.name} isReconnected={!!connection} onClose={onClose} />;
  if (pendingAttempt)
    return (
      <AwaitUser
        attempt={pendingAttempt}
        name={connector.name}
        onDone={finish}
        onRestart={() => setPendingAttempt(undefined)}
        onClose={onClose}
      />
    );
  return (
    <Form
      connector={connector}
      connection={connection}
      values={values}
      onChange={(changes) => setValues({ ...values, ...changes })}
      onResult={(result) => ("authorizationUrl" in result ? setPendingAttempt(result) : finish(result))}
      onClose={onClose}
    />
  );
}

/** Whether the connect window asks the account's owner for the credentials. */
const asksInWindow = ({ method, entersHere }: FormValues) => !entersHere && !isRedirectMethod(method);

/** Returns the fields of the form. The app's OAuth client contains the others, or the connect window asks for them. */
const formFields = (connector: ConnectorDetail, values: FormValues) =>
  asksInWindow(values) ? [] : values.method.fields.filter((field) => !isSetByApp(connector, values.method, field));

/** Returns the value of a field. Trims it, except for passwords, which may begin or end with a space. */
const fieldValue = ({ values }: FormValues, { name }: AuthField) =>
  (name === "password" ? values[name] : values[name]?.trim()) || "";

/** Returns the names of the OAuth clients that a method can use; empty if there is no choice. */
function useClientNames(platform: string, { id, type }: AuthMethod): readonly string[] {
  const { may } = useSession();
  const { data = [] } = useClients(type === "oauth2" && may("clients:read"));
  const usableClients = data.filter(
    (client) => client.platform === platform && (client.authMethod === null || client.authMethod === id),
  );
  const names = usableClients.map(({ name }) => name).sort((name) => (name === DEFAULT_CLIENT ? -1 : 0));
  return type === "oauth2" && names.some((name) => name !== DEFAULT_CLIENT) ? names : [];
}

function toAttempt(
  values: FormValues,
  client: string | undefined,
  connector: ConnectorDetail,
  connection?: Connection,
): NewConnectAttempt {
  const { platform, authMethods } = connector;
  const { identity, identityType, label, method, allowsOtherAccount } = values;
  const inWindow = asksInWindow(values);
  const fields = formFields(connector, values)
    .map((field) => [field.name, fieldValue(values, field)])
    .filter(([, value]) => value !== "");
  return {
    ...(connection
      ? { connection: connection.id, ...(allowsOtherAccount && !inWindow && { allowOtherAccount: true }) }
      : {
          platform,
          ...(identity.trim() && { identity: identity.trim() }),
          identityType,
          ...(label.trim() && !inWindow && { label: label.trim() }),
        }),
    ...(authMethods.length > 1 && { authMethod: method.id }),
    ...(client && { client }),
    ...(fields.length > 0 && { fields: Object.fromEntries(fields) }),
    ...(inWindow && { link: true }),
  };
}

interface FormProps extends StepsProps {
  values: FormValues;
  onChange: (changes: Partial<FormValues>) => void;
  onResult: (response: Connection | PendingAttempt) => void;
}

function Form({ connector, connection, values, onChange, onResult, onClose }: FormProps) {
  const { vault } = useSession();
  const { name, authMethods } = connector;
  const { method } = values;
  const [isSubmitted, setSubmitted] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  useFocusFirst(form);
  const clientNames = useClientNames(connector.platform, method);
  const chosenClient = clientNames.find((name) => name === values.client) ?? (connection ? "" : clientNames[0]);
  const attempt = toAttempt(values, chosenClient, connector, connection);
  const starting = useSingleFlight({
    mutationFn: (input: NewConnectAttempt) => vault.connectAttempts.start(input),
    onSuccess: onResult,
  });
  const { error, isPending } = starting;
  const focusFirstFault = () =>
    requestAnimationFrame(() => form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus());
  useEffect(() => {
    if (getFaults(error).length > 0) focusFirstFault();
  }, [error]);
  const localFaults = vault.connectAttempts.validateStart(attempt);
  // The package does not report this: only API keys, not tokens, require an identity.
  const identityFault = !connection && values.identity.trim() === "" ? "This is required." : undefined;
  const findFieldFault = (field: AuthField) => validateField(field, fieldValue(values, field));
  const isValid =
    localFaults.length === 0 && identityFault === undefined && !formFields(connector, values).some(findFieldFault);
  const faults = isSubmitted ? [...localFaults, ...getFaults(error)] : [];
  const edit = (changes: Partial<FormValues>) => {
    if (starting.isInFlight()) return;
    onChange(changes);
    if (starting.isError) starting.reset();
  };
  const submit = (event: JSX.TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    setSubmitted(true);
    if (isValid) starting.run(attempt);
    else focusFirstFault();
  };
  const isTitleAmbiguous = (candidate: AuthMethod) =>
    authMethods.filter((other) => authMethodTitle(other) === authMethodTitle(candidate)).length > 1;
  const isRedirect = isRedirectMethod(method);
  const inWindow = asksInWindow(values);
  return (
    <form class="section" ref={form} onSubmit={submit} noValidate autocomplete="off">
      {!connection && (
        <>
          <TextField
            label="Identity"
            placeholder="ann@example.com"
            aria-required="true"
            hint="The ID or email address that your product uses for the user."
            value={values.identity}
            fault={(isSubmitted ? identityFault : undefined) ?? findFaultMessage(faults, "/identity")}
            onInput={(identity) => edit({ identity })}
          />
          <Select
            label="Identity type"
            value={values.identityType}
            options={IDENTITY_TYPES.map((type) => [type, type] as const)}
            fault={findFaultMessage(faults, "/identityType")}
            onChange={(value) => edit({ identityType: value as IdentityType })}
          />
          {!inWindow && (
            <TextField
              label="Label (optional)"
              placeholder="default"
              hint="Distinguishes several connections of one identity."
              value={values.label}
              fault={findFaultMessage(faults, "/label")}
              onInput={(label) => edit({ label })}
            />
          )}
        </>
      )}
      {authMethods.length > 1 && (
        <Select
          label="Method"
          value={method.id}
          options={authMethods.map((option) => [
            option.id,
            isTitleAmbiguous(option) ? `${authMethodTitle(option)} (${option.id})` : authMethodTitle(option),
          ])}
          fault={findFaultMessage(faults, "/authMethod")}
          onChange={(id) => edit({ method: authMethods.find((option) => option.id === id) ?? method })}
        />
      )}
      {clientNames.length > 0 && (
        <Select
          label="OAuth client"
          value={chosenClient ?? ""}
          options={[
            ...(connection ? ([["", "The connection's own client"]] as const) : []),
            ...clientNames.map((clientName) => [clientName, clientName] as const),
          ]}
          fault={findFaultMessage(faults, "/client")}
          onChange={(client) => edit({ client })}
        />
      )}
      {!isRedirect && (
        <Select
          label="Who enters the credentials"
          value={values.entersHere ? "here" : ""}
          options={[
            ["", "The user, with a link"],
            ["here", "I enter them here"],
          ]}
          onChange={(value) => edit({ entersHere: value !== "" })}
        />
      )}
      {formFields(connector, values).map((field) => (
        <AuthFieldInput
          key={`${method.id} ${field.name}`}
          field={field}
          value={values.values[field.name] ?? field.default ?? ""}
          fault={isSubmitted ? (findFieldFault(field) ?? findFaultMessage(faults, `/fields/${field.name}`)) : undefined}
          onInput={(value) => edit({ values: { ...values.values, [field.name]: value } })}
        />
      ))}
      {connection && !inWindow && (
        <label class="check">
          <input
            type="checkbox"
            checked={values.allowsOtherAccount}
            onChange={({ currentTarget }) => edit({ allowsOtherAccount: currentTarget.checked })}
          />{" "}
          Allow another account at {name}
        </label>
      )}
      {(isRedirect || inWindow) && (
        <p class="muted small">
          {isRedirect ? `The user signs in at ${name} itself.` : "You do not see what the user enters."} The next step
          shows a link for them.
        </p>
      )}
      {error && <StartError error={error} connector={connector} />}
      <div class="buttons">
        <button type="button" aria-disabled={isPending} onClick={() => !starting.isInFlight() && onClose()}>
          Cancel
        </button>
        <button type="submit" class="primary" aria-disabled={isPending}>
          {isPending ? "Connecting…" : isRedirect || inWindow ? "Get the link" : connection ? "Reconnect" : "Connect"}
        </button>
      </div>
    </form>
  );
}

function StartError({ error, connector: { platform, name } }: { error: unknown; connector: ConnectorDetail }) {
  const { may } = useSession();
  const note = (text: ComponentChildren) => (
    <p class="note" data-tone="warn" role="alert">
      {text}
    </p>
  );
  if (error instanceof ConflictError && error.code === "oauth_client_missing")
    return note(
      <>
        Your OAuth client for {name} is missing or incomplete. {error.message.replaceAll("`", "")}{" "}
        {may("clients:read") && <Link href={clientHref(platform)}>Open it in Integrations</Link>}
      </>,
    );
  if (error instanceof ConflictError && error.code === "connection_exists")
    return note(
      <>
        This identity is already connected to {name} with this label.{" "}
        {error.connectionId && <Link href={`/connections/${error.connectionId}`}>Open that connection</Link>}
      </>,
    );
  return <FormError error={error} />;
}

interface AwaitUserProps {
  attempt: PendingAttempt;
  name: string;
  onDone: (connection: Connection) => void;
  onRestart: () => void;
  onClose: () => void;
}

/** Shows the link for the user until the attempt ends. */
function AwaitUser({ attempt: { id, authorizationUrl, expiresAt }, name, onDone, onRestart, onClose }: AwaitUserProps) {
  const { vault } = useSession();
  const { data, error } = useQuery({
    queryKey: ["attempt", id],
    queryFn: ({ signal }) => vault.connectAttempts.get(id, { wait: WAIT_SECONDS }, { signal }),
    // Poll until the attempt ends, even after a failed request.
    refetchInterval: ({ state }) =>
      state.error instanceof NotFoundError || (state.data && state.data.status !== "pending") ? false : PAUSE_MS,
    refetchIntervalInBackground: true,
    gcTime: 0,
  });
  const connection = data?.connection;
  const isDone = data?.status === "succeeded";
  useEffect(() => {
    if (isDone && connection) onDone(connection);
  }, [isDone]);
  const intro = useRef<HTMLParagraphElement>(null);
  // The form that had the focus no longer exists.
  useEffect(() => intro.current?.focus(), []);
  const hasEnded = data !== undefined && data.status !== "pending";
  return (
    <div class="section">
      {!hasEnded && (
        <>
          <p ref={intro} tabIndex={-1}>
            Send this link to the user when they have time, or open it yourself if the account is yours. It works once
            and expires <RelativeTime at={expiresAt} />.
          </p>
          <p class="copyable full-width">
            <code>{authorizationUrl}</code> <CopyButton text={authorizationUrl} label="Copy the link" />
          </p>
        </>
      )}
      <div role="status">{!hasEnded && <p class="muted">{`Waiting for the user to connect ${name}…`}</p>}</div>
      {data?.status === "failed" && (
        <p class="note" data-tone="bad" role="alert">
          The account was not connected. {data.error?.detail} <code>{data.error?.code}</code>
        </p>
      )}
      {data?.status === "expired" && (
        <p class="note" data-tone="warn" role="alert">
          The link expired before the user finished. Nothing was connected.
        </p>
      )}
      {error && !hasEnded && (
        <p class="note" data-tone="warn" role="alert">
          {describeError(error)}
        </p>
      )}
      <div class="buttons">
        <button type="button" onClick={onClose}>
          Close
        </button>
        {hasEnded ? (
          <button type="button" class="primary" onClick={onRestart}>
            Try again
          </button>
        ) : (
          <a class="button primary" href={authorizationUrl} target="_blank" rel="noopener">
            Open in a new tab
          </a>
        )}
      </div>
    </div>
  );
}

interface DoneProps {
  connection: Connection;
  name: string;
  isReconnected: boolean;
  onClose: () => void;
}

function Done({ connection: { id, identity }, name, isReconnected, onClose }: DoneProps) {
  const message = useRef<HTMLParagraphElement>(null);
  useEffect(() => message.current?.focus(), []);
  return (
    <div class="section">
      <p class="note break-words" data-tone="good" role="status" ref={message} tabIndex={-1}>
        <strong>{identity}</strong> is {isReconnected ? "connected to" : "now connected to"} {name}
        {isReconnected ? " again" : ""}.
      </p>
      <div class="buttons">
        {!isReconnected && (
          <Link class="button" href={`/connections/${id}`}>
            Open the connection
          </Link>
        )}
        <button type="button" class="primary" onClick={onClose}>
          Close
        </button>
      </div>
    </div>
  );
}
