import type { AuthField, ConnectorDetail, NewOauthClient, OAuth2Method, OauthClient } from "connector-vault/slim";
import { useState } from "preact/hooks";
import { findFaultMessage } from "../components/faults";
import { Field, TextField } from "../components/field";
import { FormError } from "../components/form-error";
import { Modal } from "../components/modal";
import { QueryView } from "../components/query-view";
import { Select } from "../components/select";
import { Suggestions } from "../components/suggestions";
import { useSingleFlight } from "../components/use-single-flight";
import { useValidatedForm } from "../components/use-validated-form";
import { AuthFieldInput, validateField } from "../connect/auth-field-input";
import { SCOPES, TagsInput, allTags, type TagsValue } from "../connections/tags-input";
import { useConnector } from "../connectors/hooks";
import { PlatformField } from "../connectors/platform-field";
import type { Platforms } from "../connectors/platforms";
import { useSession } from "../session/session";
import { clientHref, describeClient, DEFAULT_CLIENT, useInvalidateClients } from "./hooks";
import { RedirectUri } from "./redirect-uri";

interface Props {
  platform: string | undefined;
  /** The client's name. Ignored if `isNew`, because the form has a field for it. */
  name: string;
  /** Whether to create a client, for which the form has a name field. */
  isNew: boolean;
  /** The platform's existing clients. */
  clients: readonly OauthClient[];
  platforms: Platforms | undefined;
  onChoose: (platform: string) => void;
  onClose: () => void;
  onSaved: (client: OauthClient) => void;
  fallbackFocus: () => HTMLElement | null;
}

/** A dialog to set an OAuth client. Asks for the platform first, unless the URL contains it. */
export function ClientDialog({ platform, platforms, onChoose, onClose, onSaved, fallbackFocus, ...which }: Props) {
  const { may } = useSession();
  const platformName = platform && (platforms?.byName.get(platform)?.name ?? platform);
  const name = which.isNew ? DEFAULT_CLIENT : which.name;
  return (
    <Modal
      key={platform ?? ""}
      title={platformName ? describeClient(name, platformName) : "New OAuth client"}
      kind="form"
      onClose={onClose}
      fallbackFocus={fallbackFocus}
    >
      {platform === undefined ? (
        <PlatformChoice platforms={platforms} onChoose={onChoose} />
      ) : may("catalog:read") ? (
        <ConnectorForm platform={platform} {...which} onClose={onClose} onSaved={onSaved} />
      ) : (
        <ClientForm platform={platform} {...which} methods={[]} onClose={onClose} onSaved={onSaved} />
      )}
    </Modal>
  );
}

function PlatformChoice({ platforms, onChoose }: Pick<Props, "platforms" | "onChoose">) {
  const [text, setText] = useState("");
  // Offer only platforms with OAuth. Others can't have a client.
  const oauthPlatforms = platforms && {
    ...platforms,
    find: (query: string) => platforms.find(query).filter(({ oauth }) => oauth),
  };
  return (
    <form
      class="section"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== "") onChoose(text.trim().toLowerCase());
      }}
    >
      <PlatformField
        label="Platform"
        isRequired
        autofocus
        text={text}
        platforms={oauthPlatforms}
        hint="Platforms that users connect to through OAuth."
        onInput={setText}
        onChoose={onChoose}
      />
      <div class="buttons">
        <button type="submit" class="primary" aria-disabled={text.trim() === ""}>
          Continue
        </button>
      </div>
    </form>
  );
}

type FormProps = Pick<Props, "name" | "isNew" | "clients" | "onClose" | "onSaved"> & { platform: string };

const isOauth = (method: ConnectorDetail["authMethods"][number]): method is OAuth2Method => method.type === "oauth2";

function ConnectorForm({ platform, ...rest }: FormProps) {
  const query = useConnector(platform);
  return (
    <QueryView query={query} name="the connector" rows={3}>
      {(found) => {
        if ("suggestions" in found)
          return (
            <Suggestions
              title={`The catalog has no platform “${platform}”`}
              suggestions={found.suggestions}
              getHref={(suggestion) => clientHref(suggestion)}
            />
          );
        const methods = found.authMethods.filter(isOauth);
        if (methods.length === 0) return <p>{found.name} does not use OAuth, so it needs no client.</p>;
        return <ClientForm platform={found.platform} connector={found} methods={methods} {...rest} />;
      }}
    </QueryView>
  );
}

/**
 * Pages on which developers register apps, by authorization host. Sources: docs.github.com/apps/oauth-apps,
 * developers.google.com/workspace/guides/create-credentials, api.slack.com/authentication/oauth-v2,
 * developers.notion.com/docs/authorization and developer.atlassian.com/cloud/oauth/getting-started/managing-oauth-apps.
 */
const REGISTRATION_PAGES: Partial<Record<string, string>> = {
  "github.com": "https://github.com/settings/developers",
  "accounts.google.com": "https://console.cloud.google.com/apis/credentials",
  "slack.com": "https://api.slack.com/apps",
  "api.notion.com": "https://www.notion.so/my-integrations",
  "auth.atlassian.com": "https://developer.atlassian.com/console/myapps/",
};

/** Contains a secret, so it exists only as long as the dialog. */
interface FormValues extends TagsValue {
  name: string;
  authMethod: string;
  clientId: string;
  secret: string;
  removesSecret: boolean;
  /** One `name=value` per line. */
  parameters: string;
  variables: Record<string, string>;
}

const toFormValues = (name: string, client: OauthClient | undefined): FormValues => ({
  name,
  authMethod: client?.authMethod ?? "",
  clientId: client?.clientId ?? "",
  secret: "",
  removesSecret: false,
  tags: client?.scopes ?? [],
  text: "",
  parameters: Object.entries(client?.authorizationParameters ?? {})
    .map(([name, value]) => `${name}=${value}`)
    .join("\n"),
  variables: client?.variables ?? {},
});

const parseParameters = (lines: string) =>
  Object.fromEntries(
    lines
      .split("\n")
      .filter((line) => line.trim() !== "")
      .map((line) => {
        const [name = "", ...value] = line.split("=");
        return [name.trim(), value.join("=").trim()];
      }),
  );

function toClient(values: FormValues, fields: readonly AuthField[], previous: OauthClient | undefined): NewOauthClient {
  const { authMethod, clientId, secret, removesSecret, parameters } = values;
  const variables = fields
    .map(({ name }) => [name, values.variables[name]?.trim() ?? ""])
    .filter(([, value]) => value !== "");
  return {
    ...(authMethod && { authMethod }),
    // Validation reports a missing client ID, so the cast is safe.
    ...((clientId.trim() && { clientId: clientId.trim() }) as Pick<NewOauthClient, "clientId">),
    ...(removesSecret ? { clientSecret: null } : secret && { clientSecret: secret }),
    scopes: allTags(values, SCOPES),
    authorizationParameters: parseParameters(parameters),
    variables: Object.fromEntries(variables),
    ...(previous?.startUrl && { startUrl: previous.startUrl }),
    ...(previous?.pkce && { pkce: previous.pkce }),
  };
}

function RegistrationHint({ connector }: { connector: ConnectorDetail }) {
  const { name, documentationUrl, authMethods } = connector;
  const hosts = authMethods.filter(isOauth).map(({ authorizationUrl }) => parseHost(authorizationUrl));
  const page = hosts.map((host) => REGISTRATION_PAGES[host]).find(Boolean);
  const url = page ?? documentationUrl;
  if (!url) return null;
  return (
    <p>
      Register your app{" "}
      <a href={url} target="_blank" rel="noopener noreferrer">
        {page ? `at ${name}` : `as described in the documentation of ${name}`}
      </a>
      , with this redirect URI. It then shows you the client ID{" "}
      {authMethods.some((method) => isOauth(method) && method.tokenAuth !== "none") && "and secret"}.
    </p>
  );
}

/** Returns the host of a URL template up to its first variable; empty if there is none. */
const parseHost = (url: string | null) => /^https:\/\/([^/?#{]+)/.exec(url ?? "")?.[1] ?? "";

function ClientForm({
  platform,
  connector,
  name: currentName,
  isNew,
  clients,
  methods,
  onClose,
  onSaved,
}: FormProps & { connector?: ConnectorDetail; methods: readonly OAuth2Method[] }) {
  const { vault } = useSession();
  const invalidate = useInvalidateClients();
  const names = clients.map((client) => client.name);
  const client = isNew ? undefined : clients.find((client) => client.name === currentName);
  const [values, setValues] = useState(() =>
    toFormValues(isNew && names.includes(DEFAULT_CLIENT) ? "" : currentName, client),
  );
  const clientName = values.name.trim();
  const selectedMethods = methods.filter(({ id }) => values.authMethod === "" || id === values.authMethod);
  // Several methods can have the same variable.
  const fields = [
    ...new Map(selectedMethods.flatMap((method) => method.fields).map((field) => [field.name, field])).values(),
  ];
  const scopes = [...new Set(selectedMethods.flatMap((method) => method.scopes.map(({ name }) => name)))];
  const request = toClient(values, fields, client);
  const saving = useSingleFlight({
    mutationFn: (client: NewOauthClient) => vault.oauthClients.set(platform, client, { name: clientName }),
    onSuccess: (saved) => {
      void invalidate();
      onSaved(saved);
    },
  });
  const { error, isPending } = saving;
  const localFaults = vault.oauthClients.validateSet(request);
  const variableFault = (field: AuthField) =>
    validateField({ ...field, required: false }, values.variables[field.name]?.trim() ?? "");
  const name = connector?.name ?? platform;
  const isPublic = selectedMethods.length > 0 && selectedMethods.every(({ tokenAuth }) => tokenAuth === "none");
  const needsSecret = selectedMethods.length > 0 && selectedMethods.every(({ tokenAuth }) => tokenAuth !== "none");
  const keepsSecret = client?.hasSecret === true && values.clientId.trim() === client.clientId;
  const secretFault = needsSecret && !values.secret && !keepsSecret ? `${name} needs the client's secret.` : undefined;
  const nameFault = isNew ? findNameFault(clientName, names) : undefined;
  const isValid = localFaults.length === 0 && !nameFault && !secretFault && !fields.some(variableFault);
  const { form, isSubmitted, faults, ...validatedForm } = useValidatedForm(saving, localFaults, isValid);
  const edit = (changes: Partial<FormValues>) => validatedForm.edit(() => setValues({ ...values, ...changes }));
  const secretField: AuthField = {
    name: "clientSecret",
    label: "Client secret",
    description: isPublic
      ? `${name} does not ask for one.`
      : keepsSecret
        ? "A secret is stored. Leave this empty to keep it."
        : client?.hasSecret
          ? "The stored secret belongs to the previous client ID and will be erased."
          : "It is stored encrypted and never shown again.",
    secret: true,
    required: needsSecret && !keepsSecret,
    pattern: null,
    enum: null,
    default: null,
  };
  return (
    <form
      class="section"
      ref={form}
      onSubmit={validatedForm.submit(() => saving.run(request))}
      noValidate
      autocomplete="off"
    >
      {connector && <RegistrationHint connector={connector} />}
      <RedirectUri />
      {isNew && (
        <TextField
          label="Name"
          aria-required="true"
          value={values.name}
          fault={isSubmitted ? nameFault : undefined}
          hint={`${
            names.length > 0
              ? `${name} already has ${names.map((existingName) => `“${existingName}”`).join(", ")}. `
              : ""
          }Connect requests and sessions choose a client by its name; without one, they use “default”.`}
          onInput={(newName) => edit({ name: newName })}
        />
      )}
      {methods.length > 1 && (
        <Select
          label="Method"
          value={values.authMethod}
          options={[["", "All OAuth methods"], ...methods.map(({ id }) => [id, id] as const)]}
          fault={findFaultMessage(faults, "/authMethod")}
          onChange={(authMethod) => edit({ authMethod })}
        />
      )}
      <TextField
        label="Client ID"
        aria-required="true"
        value={values.clientId}
        fault={findFaultMessage(faults, "/clientId")}
        onInput={(clientId) => edit({ clientId })}
      />
      {!values.removesSecret && (
        <AuthFieldInput
          field={secretField}
          value={values.secret}
          fault={findFaultMessage(faults, "/clientSecret") ?? (isSubmitted ? secretFault : undefined)}
          onInput={(secret) => edit({ secret })}
        />
      )}
      {keepsSecret && (
        <label class="check">
          <input
            type="checkbox"
            checked={values.removesSecret}
            onChange={({ currentTarget }) => edit({ removesSecret: currentTarget.checked, secret: "" })}
          />{" "}
          Remove the stored secret
        </label>
      )}
      <TagsInput
        label="Scopes (optional)"
        kind={SCOPES}
        suggestions={scopes}
        tags={values.tags}
        text={values.text}
        faults={faults.filter(({ pointer }) => pointer !== undefined)}
        onChange={edit}
      />
      {scopes.length > 0 && allTags(values, SCOPES).length === 0 && (
        <p class="muted small">
          Without scopes, {name} grants only its default permissions, and many actions fail. It has{" "}
          {scopes.length === 1 ? "this one" : `${scopes.length} scopes, such as`}{" "}
          {scopes.slice(0, 3).map((scope) => (
            <>
              <button
                key={scope}
                type="button"
                class="link"
                aria-label={`Add the scope ${scope}`}
                onClick={() => edit({ tags: [...values.tags, scope] })}
              >
                {scope}
              </button>{" "}
            </>
          ))}
        </p>
      )}
      {fields.map((field) => (
        <AuthFieldInput
          key={field.name}
          field={{
            ...field,
            required: false,
            description: [field.description, "Leave this empty to ask each user."].filter(Boolean).join(" "),
          }}
          value={values.variables[field.name] ?? ""}
          fault={
            isSubmitted ? (variableFault(field) ?? findFaultMessage(faults, `/variables/${field.name}`)) : undefined
          }
          onInput={(value) => edit({ variables: { ...values.variables, [field.name]: value } })}
        />
      ))}
      <Field
        label="Authorization parameters (optional)"
        hint="Additional parameters of the authorization request, one per line, such as access_type=offline."
        fault={findParameterFault(faults)}
      >
        {(attributes) => (
          <textarea
            {...attributes}
            rows={2}
            class="mono"
            autocapitalize="off"
            spellcheck={false}
            value={values.parameters}
            onInput={({ currentTarget }) => edit({ parameters: currentTarget.value })}
          />
        )}
      </Field>
      {error && <FormError error={error} hint="It may not have been saved. Try again." />}
      <div class="buttons">
        <button type="button" aria-disabled={isPending} onClick={() => !saving.isInFlight() && onClose()}>
          Cancel
        </button>
        <button type="submit" class="primary" aria-disabled={isPending}>
          {isPending ? "Saving…" : "Save OAuth client"}
        </button>
      </div>
    </form>
  );
}

/** Returns why a new client can't have this name, or undefined. */
function findNameFault(name: string, existingNames: readonly string[]): string | undefined {
  if (name === "") return "This is required.";
  if (!/^[a-z0-9-]{1,40}$/.test(name)) return "Use 1 to 40 characters: a-z, 0-9 and -.";
  return existingNames.includes(name) ? "There is already a client with this name." : undefined;
}

/** Returns the first error of a parameter, with the parameter's name, because all parameters share one field. */
function findParameterFault(faults: Parameters<typeof findFaultMessage>[0]): string | undefined {
  const prefix = "/authorizationParameters";
  const pointer = faults.find((fault) => fault.pointer?.startsWith(prefix))?.pointer;
  if (pointer === undefined) return undefined;
  const name = pointer
    .slice(prefix.length + 1)
    .replaceAll("~1", "/")
    .replaceAll("~0", "~");
  const message = findFaultMessage(faults, pointer);
  return name ? `${name}: ${message}` : message;
}
