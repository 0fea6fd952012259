import { useQuery } from "@tanstack/preact-query";
import { NotFoundError, type Connector } from "connector-vault/slim";
import { Link } from "wouter-preact";
import { Answer } from "../parts/answer";
import { StatusBadge } from "../parts/badge";
import { CopyButton } from "../parts/copy";
import { Empty } from "../parts/empty";
import { Logo } from "../parts/logo";
import { Page } from "../parts/page";
import { CATALOG_FRESH_MS, useSession } from "../session/session";
import { Actions } from "./actions";
import { ConnectionsOf } from "./connections-of";
import "./connectors.css";

/** One platform: what is known of it, what it can do, and who is connected to it. */
export function ConnectorView({ platform }: { platform: string }) {
  const { vault } = useSession();
  const query = useQuery({
    queryKey: ["connector", platform],
    queryFn: async ({ signal }) => (await vault.connectors.list({ platform }, { signal })).rows,
    staleTime: CATALOG_FRESH_MS,
  });
  return (
    <Page title={query.data?.[0]?.name ?? platform} above={<Link href="/connectors">Connectors</Link>}>
      <Answer query={query} what="the connector">
        {(connectors) =>
          connectors.length === 0 ? (
            <Unknown platform={platform} />
          ) : (
            <div class="connector-page">
              <div class="connector-facts">
                {connectors.map((connector) => (
                  <Facts key={connector.key} connector={connector} />
                ))}
              </div>
              <ConnectionsOf platform={platform} />
              <Actions platform={platform} />
            </div>
          )
        }
      </Answer>
    </Page>
  );
}

/** The service knows which platforms have a name like this. */
function Unknown({ platform }: { platform: string }) {
  const { vault } = useSession();
  const { data = [] } = useQuery({
    queryKey: ["nearest", platform],
    queryFn: ({ signal }) =>
      vault.actions.list(platform, { limit: 1 }, { signal }).then(
        () => [] as readonly string[],
        (error: unknown) => (error instanceof NotFoundError ? error.suggestions : []),
      ),
  });
  return (
    <Empty title={`The catalog has no platform “${platform}”`}>
      {data.length > 0 && (
        <p>
          Did you mean{" "}
          {data.map((name, at) => (
            <span key={name}>
              {at > 0 && ", "}
              <Link href={`/connectors/${name}`}>{name}</Link>
            </span>
          ))}
          ?
        </p>
      )}
    </Empty>
  );
}

function Facts({ connector }: { connector: Connector }) {
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
  } = connector;
  return (
    <section class="card facts-card" aria-label={`${name} ${platformVersion}`}>
      <div class="facts-head">
        <Logo name={name} image={image} size={64} />
        <p>{description || <span class="muted">No description.</span>}</p>
      </div>
      <dl class="facts">
        <dt>Platform</dt>
        <dd class="copied">
          <code>{platform}</code> <CopyButton text={platform} label="Copy the platform" />
        </dd>
        <dt>Key</dt>
        <dd class="copied">
          <code>{key}</code> <CopyButton text={key} label="Copy the key" />
        </dd>
        <dt>ID</dt>
        <dd class="copied">
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
            tags.map((tag, at) => (
              <span key={at} class="chip">
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
          {platformVersion} <span class="muted">({version})</span>
        </dd>
        <dt>Actions</dt>
        <dd>{tools.toLocaleString("en")}</dd>
      </dl>
    </section>
  );
}
