import type { ActionDetail, AuthMethod, RequestBody } from "connector-vault/slim";
import { useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { MethodBadge } from "../components/badge";
import { CopyButton } from "../components/copy-button";
import { InlineMarkdown } from "../components/inline-markdown";
import { Page } from "../components/page";
import { QueryView } from "../components/query-view";
import { CodeTabs, Snippet } from "../components/snippet";
import { Suggestions } from "../components/suggestions";
import { authMethodTitle } from "../connectors/auth-methods";
import { useAction, useConnector } from "../connectors/hooks";
import { type RunInput, buildPlatformCurl, buildRunCall } from "./code-samples";
import { Parameters } from "./parameters";
import { Responses } from "./responses";
import { type Definitions, getDefinitions } from "./schema";
import { RequiredBadge, Schema } from "./schema-view";
import { TryIt } from "./try-it";
import "./actions.css";

/** One action of a platform: its input, authorization and responses. */
export function ActionView({ platform, action: key }: { platform: string; action: string }) {
  const query = useAction(platform, key);
  const { data: connector } = useConnector(platform);
  const action = query.data && "title" in query.data ? query.data : undefined;
  const name = connector && "name" in connector ? connector.name : platform;
  const { authMethods: methods, headers } = connector && "name" in connector ? connector : {};
  return (
    <Page
      title={action?.title ?? key}
      breadcrumb={
        <>
          <Link href="/connectors">Connectors</Link> <span aria-hidden="true">/</span>{" "}
          <Link href={`/connectors/${platform}`}>{name}</Link>
        </>
      }
      count={
        action?.deprecated && (
          <span class="badge" data-tone="warn">
            Deprecated
          </span>
        )
      }
    >
      <QueryView query={query} name="the action">
        {(found) =>
          "title" in found ? (
            <Detail action={found} methods={methods} headers={headers} />
          ) : found.code === "platform_not_found" ? (
            <Suggestions
              title={`The catalog has no platform “${platform}”`}
              suggestions={found.suggestions}
              getHref={(name) => `/connectors/${name}`}
            />
          ) : (
            <Suggestions
              title={`${name} has no action “${key}”`}
              suggestions={found.suggestions}
              getHref={(name) => `/connectors/${platform}/actions/${encodeURIComponent(name)}`}
            />
          )
        }
      </QueryView>
    </Page>
  );
}

interface DetailProps {
  action: ActionDetail;
  methods: AuthMethod[] | undefined;
  headers: Record<string, string> | undefined;
}

function Detail({ action, methods, headers }: DetailProps) {
  const { platform, key, parameters, requestBody } = action;
  const definitions = getDefinitions(action.input);
  const firstMethod = methods?.find(({ id }) => id === action.auth[0]?.method);
  const requestCode = buildPlatformCurl(action, firstMethod, headers);
  const [runInput, setRunInput] = useState<RunInput>({});
  return (
    <div class="action-page">
      <div class="action-aside">
        <ActionDetails action={action} methods={methods} />
        <section class="section snippet" aria-labelledby="run">
          <div class="title">
            <h2 id="run">Run through the vault</h2>
          </div>
          <p class="muted small">
            The vault validates the input and adds the connection's credentials. “Try it” fills in both.
          </p>
          <CodeTabs call={buildRunCall(action, runInput)} />
        </section>
        <section class="section snippet" aria-labelledby="call">
          <div class="title">
            <h2 id="call">Request to the platform</h2>
            <CopyButton text={requestCode} label="Copy the code" />
          </div>
          <p class="muted small">The request that the vault sends, if you prefer to send it yourself.</p>
          <pre tabIndex={0} aria-label="Code">
            <code>{requestCode}</code>
          </pre>
        </section>
        <Snippet
          title="API request to read this action"
          call={{
            method: "GET",
            path: `/v1/available-actions/${platform}/${encodeURIComponent(key)}`,
            javascript: `const action = await vault.actions.get(${JSON.stringify(platform)}, ${JSON.stringify(key)});`,
          }}
        />
      </div>
      <div class="action-content">
        <Parameters parameters={parameters} definitions={definitions} />
        {requestBody && <Body body={requestBody} definitions={definitions} />}
        <Responses platform={platform} action={key} />
        <TryIt action={action} definitions={definitions} onInputChange={setRunInput} />
      </div>
    </div>
  );
}

function ActionDetails({ action, methods }: { action: ActionDetail; methods: AuthMethod[] | undefined }) {
  const { title, key, method, modelName, path, server, description, documentationUrl } = action;
  return (
    <section class="card details-card" aria-label={title}>
      <p class="endpoint">
        <MethodBadge method={method} /> <code>{path}</code> <CopyButton text={path} label="Copy the path" />
      </p>
      {description && description.replace(/\.$/, "") !== title && (
        <p class="action-description">
          <InlineMarkdown text={description} />
        </p>
      )}
      <dl class="description-list">
        <dt>Key</dt>
        <dd class="copyable">
          <code>{key}</code> <CopyButton text={key} label="Copy the key" />
        </dd>
        {modelName && (
          <>
            <dt>Model</dt>
            <dd>{modelName}</dd>
          </>
        )}
        <dt>API server</dt>
        <dd>{server ? <code>{server}</code> : <span class="muted">unknown</span>}</dd>
        <dt>Authorization</dt>
        <dd>
          <Authorization action={action} methods={methods} />
        </dd>
        {documentationUrl && (
          <>
            <dt>Documentation</dt>
            <dd>
              <a href={documentationUrl} rel="noreferrer">
                {URL.canParse(documentationUrl) ? new URL(documentationUrl).host : documentationUrl}
              </a>
            </dd>
          </>
        )}
      </dl>
    </section>
  );
}

/** The auth methods that authorize an action, each with its scopes. */
function Authorization({ action: { auth }, methods }: { action: ActionDetail; methods: AuthMethod[] | undefined }) {
  if (auth.length === 0) return <span class="muted">{methods?.length === 0 ? "unknown" : "none needed"}</span>;
  return (
    <ul class="plain">
      {auth.map(({ method: id, scopes }, index) => {
        const method = methods?.find((candidate) => candidate.id === id);
        return (
          <li key={index}>
            {method ? authMethodTitle(method) : <code>{id}</code>}
            {scopes.length > 0 && (
              <>
                <span class="muted">, with {scopes.length === 1 ? "the scope" : "the scopes"}</span>{" "}
                <span class="scope-names">
                  {scopes.map((scope) => (
                    <span key={scope}>
                      <code>{scope}</code>{" "}
                    </span>
                  ))}
                </span>
              </>
            )}
          </li>
        );
      })}
    </ul>
  );
}

function Body({
  body: { required, contentTypes, schema },
  definitions,
}: {
  body: RequestBody;
  definitions: Definitions;
}) {
  return (
    <section class="section" aria-labelledby="body">
      <div class="title">
        <h2 id="body">Body</h2>
        {required && <RequiredBadge />}
        <p class="muted small">{contentTypes.join(", ")}</p>
      </div>
      <div class="card body-schema">
        <Schema schema={schema} definitions={definitions} />
      </div>
    </section>
  );
}
