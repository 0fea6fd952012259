import type { AuthField, AuthMethod, ConnectorDetail, OAuth2Method } from "connector-vault/slim";
import { useState } from "preact/hooks";
import { CopyButton } from "../components/copy-button";
import { DescriptionItem } from "../components/description-item";
import { pluralize } from "../components/pluralize";
import { ConnectAccount } from "../connections/connect-account";
import { useSession } from "../session/session";

export function AuthMethods({ connector }: { connector: ConnectorDetail }) {
  const { authMethods, name, headers } = connector;
  return (
    <section class="section auth-methods" aria-labelledby="connecting">
      <div class="title">
        <h2 id="connecting">How users connect</h2>
        {authMethods.length > 0 && <ConnectButton connector={connector} />}
      </div>
      {authMethods.length === 0 ? (
        <p class="muted">The catalog has no auth method for {name}.</p>
      ) : (
        <ul class="methods">
          {authMethods.map((method) => (
            <li key={method.id} class="card auth-method">
              <h3>{authMethodTitle(method)}</h3>
              <dl class="description-list">
                <DescriptionItem name="ID">
                  <code>{method.id}</code>
                </DescriptionItem>
                <MethodDetails method={method} />
                {method.fields.length > 0 && (
                  <DescriptionItem name="User enters">
                    <FieldList fields={method.fields} />
                  </DescriptionItem>
                )}
                <TemplateList name="Request headers" values={{ ...headers, ...method.headers }} separator=": " />
                <TemplateList name="Query parameters" values={method.query} separator="=" />
              </dl>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function ConnectButton({ connector: { platform, name } }: { connector: ConnectorDetail }) {
  const { may } = useSession();
  const [isOpen, setOpen] = useState(false);
  if (!may("connections:connect"))
    return (
      <p class="muted small">
        To connect an account, use a key with the scope <code>connections:connect</code>.
      </p>
    );
  return (
    <div class="actions">
      <button type="button" class="primary" onClick={() => setOpen(true)}>
        Connect an account
      </button>
      {isOpen && <ConnectAccount platform={platform} name={name} onClose={() => setOpen(false)} />}
    </div>
  );
}

export function authMethodTitle(method: AuthMethod): string {
  switch (method.type) {
    case "oauth2":
      return method.grant === "client_credentials" ? "OAuth 2.0, client credentials" : "OAuth 2.0";
    case "api_key":
      return "API key";
    case "basic":
      if (method.password !== null) return method.usernameLabel;
      return method.username === null || method.username.includes("{")
        ? `${method.usernameLabel} and ${method.passwordLabel.toLowerCase()}`
        : method.passwordLabel;
    case "bearer":
      return "Access token";
    case "aws_sigv4":
      return "AWS access key";
  }
}

function MethodDetails({ method }: { method: AuthMethod }) {
  switch (method.type) {
    case "oauth2":
      return <OAuth2 method={method} />;
    case "api_key":
      return (
        <DescriptionItem name="Sent in">
          {LOCATION_LABELS[method.in]} <code>{method.name}</code>
          {method.prefix && (
            <>
              , after <code>{method.prefix}</code>
            </>
          )}
        </DescriptionItem>
      );
    case "basic":
      return (
        <DescriptionItem name="Sent in">
          header <code>Authorization</code>, after <code>Basic</code>
        </DescriptionItem>
      );
    case "bearer":
      return (
        <DescriptionItem name="Sent in">
          header <code>Authorization</code>, after <code>{method.prefix}</code>
        </DescriptionItem>
      );
    case "aws_sigv4":
      return (
        <DescriptionItem name="Signature">
          Version 4 for the service <code>{method.service}</code>
        </DescriptionItem>
      );
  }
}

/** The templates in every request to the platform. Names in braces are fields, or data of the OAuth client. */
function TemplateList(props: { name: string; values: Record<string, string>; separator: string }) {
  const entries = Object.entries(props.values);
  if (entries.length === 0) return null;
  return (
    <DescriptionItem name={props.name}>
      <ul class="plain">
        {entries.map(([name, value]) => (
          <li key={name}>
            <code>
              {name}
              {props.separator}
              {value}
            </code>
          </li>
        ))}
      </ul>
    </DescriptionItem>
  );
}

const LOCATION_LABELS = { header: "header", query: "query parameter", cookie: "cookie" } as const;

function OAuth2({ method }: { method: OAuth2Method }) {
  const { authorizationUrl, tokenUrl, scopes, pkce } = method;
  return (
    <>
      {authorizationUrl && (
        <DescriptionItem name="Authorization URL">
          <CopyableUrl url={authorizationUrl} label="authorization URL" />
        </DescriptionItem>
      )}
      <DescriptionItem name="Token URL">
        <CopyableUrl url={tokenUrl} label="token URL" />
      </DescriptionItem>
      <DescriptionItem name="PKCE">{pkce === "none" ? "No" : pkce}</DescriptionItem>
      {scopes.length > 0 && (
        <DescriptionItem name="Scopes">
          <details>
            <summary>{pluralize(scopes.length, "scope")}</summary>
            <dl class="scopes">
              {scopes.map(({ name, description }) => (
                <div key={name}>
                  <dt>
                    <code>{name}</code>
                  </dt>
                  <dd class="muted">{description}</dd>
                </div>
              ))}
            </dl>
          </details>
        </DescriptionItem>
      )}
    </>
  );
}

function CopyableUrl({ url, label }: { url: string; label: string }) {
  return (
    <span class="copyable">
      <code>{url}</code> <CopyButton text={url} label={`Copy the ${label}`} />
    </span>
  );
}

function FieldList({ fields }: { fields: readonly AuthField[] }) {
  return (
    <ul class="plain">
      {fields.map(({ name, label, description, required }) => (
        <li key={name}>
          {label}
          {!required && <span class="muted"> (optional)</span>}
          {description && <span class="muted"> – {description}</span>}
        </li>
      ))}
    </ul>
  );
}
