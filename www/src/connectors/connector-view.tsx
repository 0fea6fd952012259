import type { ConnectorDetail } from "connector-vault/slim";
import { Link } from "wouter-preact";
import { StatusBadge } from "../components/badge";
import { CopyButton } from "../components/copy-button";
import { Logo } from "../components/logo";
import { Page } from "../components/page";
import { QueryView } from "../components/query-view";
import { Suggestions } from "../components/suggestions";
import { Actions } from "./actions";
import { AuthMethods } from "./auth-methods";
import { useConnector } from "./hooks";
import { RecentConnections } from "./recent-connections";
import "./connectors.css";

/** One platform: details, auth methods, connections and actions. */
export function ConnectorView({ platform }: { platform: string }) {
  const query = useConnector(platform);
  const name = query.data && "name" in query.data ? query.data.name : platform;
  return (
    <Page title={name} breadcrumb={<Link href="/connectors">Connectors</Link>}>
      <QueryView query={query} name="the connector">
        {(found) =>
          "suggestions" in found ? (
            <Suggestions
              title={`The catalog has no platform “${platform}”`}
              suggestions={found.suggestions}
              getHref={(name) => `/connectors/${name}`}
            />
          ) : (
            <div class="connector-page">
              <ConnectorDetails connector={found} />
              <AuthMethods connector={found} />
              <RecentConnections platform={found.platform} />
              <Actions platform={found.platform} />
            </div>
          )
        }
      </QueryView>
    </Page>
  );
}

function ConnectorDetails({ connector }: { connector: ConnectorDetail }) {
  const {
    id,
    name,
    key,
    platform,
    platformVersion,
    version,
    status,
    description,
    category,
    image,
    tags,
    oauth,
    active,
    tools,
    servers,
    documentationUrl,
    license,
  } = connector;
  return (
    <section class="card details-card" aria-label={`${name} ${platformVersion}`}>
      <div class="details-head">
        <Logo name={name} image={image} size={64} />
        <p>{description || <span class="muted">No description.</span>}</p>
      </div>
      <dl class="description-list">
        <dt>Platform</dt>
        <dd class="copyable">
          <code>{platform}</code> <CopyButton text={platform} label="Copy the platform" />
        </dd>
        <dt>Key</dt>
        <dd class="copyable">
          <code>{key}</code> <CopyButton text={key} label="Copy the key" />
        </dd>
        <dt>ID</dt>
        <dd class="copyable">
          <code>{id}</code> <CopyButton text={String(id)} label="Copy the ID" />
        </dd>
        <dt>Status</dt>
        <dd class="chips">
          <StatusBadge status={status} />
          {!active && (
            <span class="badge" data-tone="bad">
              Inactive
            </span>
          )}
        </dd>
        <dt>Category</dt>
        <dd>
          <Link href={`/connectors?category=${encodeURIComponent(category)}`}>{category}</Link>
        </dd>
        <dt>Tags</dt>
        <dd class="chips">
          {tags.length > 0 ? (
            tags.map((tag, index) => (
              <span key={index} class="chip">
                {tag}
              </span>
            ))
          ) : (
            <span class="muted">none</span>
          )}
        </dd>
        <dt>OAuth</dt>
        <dd>{oauth ? "Yes" : "No"}</dd>
        <dt>API version</dt>
        <dd>
          {platformVersion} {version && <span class="muted">({version})</span>}
        </dd>
        <dt>Actions</dt>
        <dd>{tools.toLocaleString("en")}</dd>
        <dt>API server</dt>
        <dd>
          {servers.length === 0 ? (
            <span class="muted">unknown</span>
          ) : (
            <ul class="plain">
              {servers.map(({ url, description }) => (
                <li key={url}>
                  <code>{url}</code>
                  {description && <span class="muted"> – {description}</span>}
                </li>
              ))}
            </ul>
          )}
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
        {license && (
          <>
            <dt>Licence</dt>
            <dd>
              {license.url ? (
                <a href={license.url} rel="noreferrer">
                  {license.name ?? license.url}
                </a>
              ) : (
                license.name
              )}
            </dd>
          </>
        )}
      </dl>
    </section>
  );
}
