import type { ActionDetail, AuthMethod, RequestBody } from "connector-vault/slim";
import { useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { titleOf } from "../connectors/connecting";
import { useAction, useConnector } from "../connectors/details";
import { Answer } from "../parts/answer";
import { MethodBadge } from "../parts/badge";
import { CopyButton } from "../parts/copy";
import { Page } from "../parts/page";
import { Prose } from "../parts/prose";
import { Code, Snippet } from "../parts/snippet";
import { Suggestions } from "../parts/suggestions";
import { type Chosen, curlOf, runOf } from "./code";
import { Parameters } from "./parameters";
import { Responses } from "./responses";
import { type Definitions, definitionsOf } from "./schema";
import { Required, Schema } from "./schema-view";
import { TryIt } from "./try";
import "./actions.css";

/** One action of a platform: what it takes, how it is authorized, and what it answers. */
export function ActionView({ platform, action: key }: { platform: string; action: string }) {
  const query = useAction(platform, key);
  const { data: connector } = useConnector(platform);
  const action = query.data && "title" in query.data ? query.data : undefined;
  const name = connector && "name" in connector ? connector.name : platform;
  const { authMethods: methods, headers } = connector && "name" in connector ? connector : {};
  return (
    <Page
      title={action?.title ?? key}
      above={
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
      <Answer query={query} what="the action">
        {(found) =>
          "title" in found ? (
            <Detail action={found} methods={methods} headers={headers} />
          ) : found.code === "platform_not_found" ? (
            <Suggestions
              title={`The catalog has no platform “${platform}”`}
              suggestions={found.suggestions}
              hrefOf={(name) => `/connectors/${name}`}
            />
          ) : (
            <Suggestions
              title={`${name} has no action “${key}”`}
              suggestions={found.suggestions}
              hrefOf={(name) => `/connectors/${platform}/actions/${encodeURIComponent(name)}`}
            />
          )
        }
      </Answer>
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
  const definitions = definitionsOf(action.input);
  const first = methods?.find(({ id }) => id === action.auth[0]?.method);
  const code = curlOf(action, first, headers);
  const [chosen, setChosen] = useState<Chosen>({});
  return (
    <div class="action-page">
      <div class="action-aside">
        <Facts action={action} methods={methods} />
        <section class="section snippet" aria-labelledby="run">
          <div class="title">
            <h2 id="run">Run it through the vault</h2>
          </div>
          <p class="muted small">
            The vault checks the input and adds fresh credentials of the connection. “Try it” fills in both.
          </p>
          <Code call={runOf(action, chosen)} />
        </section>
        <section class="section snippet" aria-labelledby="call">
          <div class="title">
            <h2 id="call">Request to the platform</h2>
            <CopyButton text={code} label="Copy the code" />
          </div>
          <p class="muted small">What the vault sends, if you prefer to send it yourself.</p>
          <pre tabIndex={0} aria-label="Code">
            <code>{code}</code>
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
        <TryIt action={action} definitions={definitions} onChoice={setChosen} />
      </div>
    </div>
  );
}

function Facts({ action, methods }: { action: ActionDetail; methods: AuthMethod[] | undefined }) {
  const { title, key, method, modelName, path, server, description, documentationUrl } = action;
  return (
    <section class="card facts-card" aria-label={title}>
      <p class="endpoint">
        <MethodBadge method={method} /> <code>{path}</code> <CopyButton text={path} label="Copy the path" />
      </p>
      {description && description.replace(/\.$/, "") !== title && (
        <p class="action-description">
          <Prose text={description} />
        </p>
      )}
      <dl class="facts">
        <dt>Key</dt>
        <dd class="copied">
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

/** The ways to authorize an action, and the scopes that each one needs. */
function Authorization({ action: { auth }, methods }: { action: ActionDetail; methods: AuthMethod[] | undefined }) {
  if (auth.length === 0) return <span class="muted">{methods?.length === 0 ? "unknown" : "none needed"}</span>;
  return (
    <ul class="plain">
      {auth.map(({ method: id, scopes }, at) => {
        const method = methods?.find((one) => one.id === id);
        return (
          <li key={at}>
            {method ? titleOf(method) : <code>{id}</code>}
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
        {required && <Required />}
        <p class="muted small">{contentTypes.join(", ")}</p>
      </div>
      <div class="card body-schema">
        <Schema schema={schema} definitions={definitions} />
      </div>
    </section>
  );
}
