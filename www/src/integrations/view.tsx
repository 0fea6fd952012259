import type { OauthClient } from "connector-vault/slim";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Link, useLocation } from "wouter-preact";
import { CopyButton } from "../components/copy-button";
import { EmptyState } from "../components/empty-state";
import { Logo } from "../components/logo";
import { Page, findPageHeading } from "../components/page";
import { pluralize } from "../components/pluralize";
import { QueryView } from "../components/query-view";
import { RelativeTime } from "../components/relative-time";
import { Snippet } from "../components/snippet";
import { useUrlState } from "../components/url-state";
import { OPENED_FROM_LIST } from "../connections/table";
import { usePlatforms } from "../connectors/platforms";
import { useSession } from "../session/session";
import { BrandingSection } from "./branding";
import { ClientDialog } from "./client-dialog";
import { DeleteClient } from "./delete-client";
import { FailedAttempts } from "./failed-attempts";
import { clientHref, describeClient, DEFAULT_CLIENT, useClients, useConnectorsNeedingClient } from "./hooks";
import { RedirectUri } from "./redirect-uri";
import "./integrations.css";

const PATH = "/integrations";
const PARAMETERS = ["set", "client", "new"] as const;
const MAX_SHOWN_MISSING = 9;

interface Notice {
  text: string;
  /** The platform that users can now connect. */
  platform?: string;
}

/** The OAuth clients, and enabled platforms without a client. */
export function IntegrationsView() {
  const { may, noun } = useSession();
  const { values, change } = useUrlState(PARAMETERS);
  const [, navigate] = useLocation();
  const query = useClients();
  const platforms = usePlatforms(query.isSuccess || query.isError);
  const [deleting, setDeleting] = useState<OauthClient>();
  const [notice, setNotice] = useState<Notice>();
  const getName = (platform: string) => platforms?.byName.get(platform)?.name ?? platform;
  const getImage = (platform: string) => platforms?.byName.get(platform)?.image;
  const canSet = may("clients:write");
  const close = () =>
    history.state?.openedHere
      ? history.back()
      : change({ set: undefined, client: undefined, new: undefined }, { replace: true });
  return (
    <Page
      title="Integrations"
      count={query.data && pluralize(query.data.length, "OAuth client")}
      actions={
        canSet && (
          <button type="button" class="primary" onClick={() => navigate(`${PATH}?new=1`, { state: OPENED_FROM_LIST })}>
            New OAuth client
          </button>
        )
      }
    >
      <div role="status">
        {notice && (
          <p class="note" data-tone="good">
            {notice.text} {notice.platform && <Link href={`/connectors/${notice.platform}`}>Connect an account</Link>}
          </p>
        )}
      </div>
      <p>
        An OAuth client is the registration of your app at a platform. Users connect through it and see its name there.
        {!canSet && ` Your ${noun} can read OAuth clients, but not change them.`}
      </p>
      <RedirectUri />
      <MissingClients clients={query.data} />
      <QueryView query={query} name="OAuth clients" rows={4}>
        {(clients) =>
          clients.length === 0 ? (
            <EmptyState title="No OAuth clients yet">
              Register your app at a platform with the redirect URI above. Then enter its client ID and secret here.
            </EmptyState>
          ) : (
            <section class="section" aria-labelledby="clients-title">
              <h2 id="clients-title">OAuth clients</h2>
              <ul class="clients" aria-labelledby="clients-title">
                {clients.map((client) => (
                  <ClientCard
                    key={`${client.platform}/${client.name}`}
                    client={client}
                    name={getName(client.platform)}
                    image={getImage(client.platform)}
                    onDelete={() => setDeleting(client)}
                  />
                ))}
              </ul>
            </section>
          )
        }
      </QueryView>
      <BrandingSection />
      <FailedAttempts getName={getName} />
      <Snippet
        call={{
          method: "GET",
          path: "/v1/oauth-clients",
          javascript: "const { rows, total } = await vault.oauthClients.list();",
        }}
      />
      {query.data && canSet && (values.set !== undefined || values.new !== undefined) && (
        <ClientDialog
          platform={values.set}
          name={values.client ?? DEFAULT_CLIENT}
          isNew={values.new !== undefined}
          clients={query.data.filter(({ platform }) => platform === values.set?.toLowerCase())}
          platforms={platforms}
          onChoose={(platform) => navigate(`${clientHref(platform)}&new=1`, { replace: true, state: history.state })}
          onClose={close}
          onSaved={({ platform, name, warnings = [] }) => {
            const savedText = `The ${describeClient(name, getName(platform))} was saved.`;
            setNotice({ text: [savedText, ...warnings].join(" "), platform });
            close();
          }}
          fallbackFocus={findPageHeading}
        />
      )}
      {deleting && (
        <DeleteClient
          client={deleting}
          name={getName(deleting.platform)}
          onClose={() => setDeleting(undefined)}
          onDeleted={() => {
            setNotice({ text: `The ${describeClient(deleting.name, getName(deleting.platform))} was deleted.` });
            setDeleting(undefined);
          }}
          fallbackFocus={findPageHeading}
        />
      )}
    </Page>
  );
}

/** Enabled platforms whose sign-in needs an OAuth client. */
function MissingClients({ clients }: { clients: readonly OauthClient[] | undefined }) {
  const { may } = useSession();
  const { data } = useConnectorsNeedingClient();
  const [showsAll, setShowsAll] = useState(false);
  const connectorsWithoutClient =
    clients && data?.filter(({ platform }) => !clients.some((client) => client.platform === platform));
  if (!connectorsWithoutClient || connectorsWithoutClient.length === 0) return null;
  const visible = showsAll ? connectorsWithoutClient : connectorsWithoutClient.slice(0, MAX_SHOWN_MISSING);
  return (
    <section class="section" aria-labelledby="missing-title">
      <div class="title">
        <h2 id="missing-title">Missing</h2>
        <p class="muted">
          {connectorsWithoutClient.length === 1
            ? "This platform is"
            : `These ${connectorsWithoutClient.length} platforms are`}{" "}
          enabled for users, but sign-in works only once you have set an OAuth client.
        </p>
      </div>
      <ul class="clients" id="missing" aria-labelledby="missing-title">
        {visible.map(({ platform, name, image }) => (
          <li key={platform} class="card client">
            <ClientCardHeader platform={platform} name={name} image={image}>
              {may("clients:write") && (
                <Link class="button" href={clientHref(platform)} state={OPENED_FROM_LIST} aria-label={`Set up ${name}`}>
                  Set up
                </Link>
              )}
            </ClientCardHeader>
          </li>
        ))}
      </ul>
      {connectorsWithoutClient.length > MAX_SHOWN_MISSING && (
        <p>
          <button type="button" aria-expanded={showsAll} aria-controls="missing" onClick={() => setShowsAll(!showsAll)}>
            {showsAll ? `Show the first ${MAX_SHOWN_MISSING} only` : `Show all ${connectorsWithoutClient.length}`}
          </button>
        </p>
      )}
    </section>
  );
}

interface ClientCardHeaderProps {
  platform: string;
  /** The client's name. */
  clientName?: string;
  name: string;
  image: string | undefined;
  children: ComponentChildren;
}

function ClientCardHeader({ platform, clientName, name, image, children }: ClientCardHeaderProps) {
  return (
    <div class="client-head">
      <Logo name={name} image={image} />
      <h3>
        <Link href={`/connectors/${platform}`}>{name}</Link>
        {name !== platform && <span class="mono muted">{platform}</span>}
        {clientName && clientName !== DEFAULT_CLIENT && <span class="chip">{clientName}</span>}
      </h3>
      <div class="buttons">{children}</div>
    </div>
  );
}

interface ClientCardProps {
  client: OauthClient;
  name: string;
  image: string | undefined;
  onDelete: () => void;
}

function ClientCard({ client, name, image, onDelete }: ClientCardProps) {
  const { may } = useSession();
  const { platform, authMethod, clientId, hasSecret, scopes, rejectedSince, updatedAt } = client;
  const settings = Object.entries({ ...client.authorizationParameters, ...client.variables });
  const label = client.name === DEFAULT_CLIENT ? name : `${name}, ${client.name}`;
  return (
    <li class="card client">
      <ClientCardHeader platform={platform} clientName={client.name} name={name} image={image}>
        {may("clients:write") && (
          <>
            <Link
              class="button"
              href={clientHref(platform, client.name)}
              state={OPENED_FROM_LIST}
              aria-label={`Edit ${label}`}
            >
              Edit
            </Link>
            <button type="button" class="danger" aria-label={`Delete ${label}`} onClick={onDelete}>
              Delete
            </button>
          </>
        )}
      </ClientCardHeader>
      {rejectedSince && (
        <p class="note" data-tone="bad">
          The platform rejected this client <RelativeTime at={rejectedSince} />. Its connections can't be refreshed
          until you fix it.
        </p>
      )}
      <dl class="description-list">
        <dt>Client ID</dt>
        <dd class="copyable">
          <code>{clientId}</code> <CopyButton text={clientId} label={`Copy the client ID of ${label}`} />
        </dd>
        <dt>Secret</dt>
        <dd>{hasSecret ? "Stored" : <span class="muted">none</span>}</dd>
        {authMethod && (
          <>
            <dt>Method</dt>
            <dd>
              <code>{authMethod}</code>
            </dd>
          </>
        )}
        <dt>Scopes</dt>
        <dd class="chips">
          {scopes.length > 0 ? (
            scopes.map((scope) => (
              <span key={scope} class="chip">
                {scope}
              </span>
            ))
          ) : (
            <span class="muted">none</span>
          )}
        </dd>
        {settings.length > 0 && (
          <>
            <dt>Parameters</dt>
            <dd class="chips">
              {settings.map(([parameter, value]) => (
                <code key={parameter} class="chip">
                  {parameter}={value}
                </code>
              ))}
            </dd>
          </>
        )}
        <dt>Changed</dt>
        <dd>
          <RelativeTime at={updatedAt} />
        </dd>
      </dl>
    </li>
  );
}
