import { Redirect, Route, Switch, useLocation } from "wouter-preact";
import { ActionView } from "./actions/view";
import { AgentsView } from "./agents/view";
import { AuditView } from "./audit/view";
import { EmptyState } from "./components/empty-state";
import { ErrorBoundary } from "./components/error-boundary";
import { Page } from "./components/page";
import { ConnectionsView } from "./connections/view";
import { ConnectorView } from "./connectors/connector-view";
import { ConnectorsView } from "./connectors/view";
import { EndUserView } from "./end-user/view";
import { EventsView } from "./events/view";
import { IntegrationsView } from "./integrations/view";
import { KeysView } from "./keys/view";
import { Layout } from "./layout";
import { Overview } from "./overview/view";
import { PeopleView } from "./people/view";
import { RequireScope } from "./session/require-scope";
import { SessionGate, useSession } from "./session/session";
import { DeliveriesView } from "./webhooks/deliveries";
import { WebhooksView } from "./webhooks/view";

export function App() {
  return (
    <SessionGate>
      <Layout>
        <CurrentView />
      </Layout>
    </SessionGate>
  );
}

/**
 * Renders the view for the current URL. An end user's link opens a single view; an API key opens the whole console. If
 * rendering fails, the header stays usable.
 */
function CurrentView() {
  const [path] = useLocation();
  const { whoami, signOut } = useSession();
  return (
    <ErrorBoundary resetKey={path} onSignOut={signOut}>
      {whoami.identity === undefined ? <OperatorViews /> : <EndUserViews />}
    </ErrorBoundary>
  );
}

const EndUserViews = () => (
  <Switch>
    <Route path="/connections/:id?">{({ id }) => <EndUserView selectedId={id} />}</Route>
    <Route>
      <Redirect to="/connections" replace />
    </Route>
  </Switch>
);

const OperatorViews = () => (
  <Switch>
    <Route path="/">
      <RequireScope view="Overview" scope="connections:read">
        <Overview />
      </RequireScope>
    </Route>
    <Route path="/connectors">
      <RequireScope view="Connectors" scope="catalog:read">
        <ConnectorsView />
      </RequireScope>
    </Route>
    <Route path="/connectors/:platform">
      {({ platform }) => (
        <RequireScope view={platform} scope="catalog:read">
          <ConnectorView key={platform} platform={platform} />
        </RequireScope>
      )}
    </Route>
    <Route path="/connectors/:platform/actions/:key">
      {({ platform, key }) => (
        <RequireScope view={key} scope="catalog:read">
          <ActionView key={`${platform}/${key}`} platform={platform} action={key} />
        </RequireScope>
      )}
    </Route>
    <Route path="/connections/:id?">
      {({ id }) => (
        <RequireScope view="Connections" scope="connections:read">
          <ConnectionsView selectedId={id} />
        </RequireScope>
      )}
    </Route>
    <Route path="/integrations">
      <RequireScope view="Integrations" scope="clients:read">
        <IntegrationsView />
      </RequireScope>
    </Route>
    <Route path="/events">
      <RequireScope view="Events" scope="events:read">
        <EventsView />
      </RequireScope>
    </Route>
    <Route path="/agents">
      <RequireScope view="Agents" scope="agents:read">
        <AgentsView />
      </RequireScope>
    </Route>
    <Route path="/audit">
      <RequireScope view="Audit" scope="audit:read">
        <AuditView />
      </RequireScope>
    </Route>
    <Route path="/people">
      <RequireScope view="People" scope="console:read">
        <PeopleView />
      </RequireScope>
    </Route>
    <Route path="/keys">
      <RequireScope view="API keys" scope="keys:read">
        <KeysView />
      </RequireScope>
    </Route>
    <Route path="/webhooks">
      <RequireScope view="Webhooks" scope="webhooks:read">
        <WebhooksView />
      </RequireScope>
    </Route>
    <Route path="/webhooks/:id">
      {({ id }) => (
        <RequireScope view="Deliveries" scope="webhooks:read">
          <DeliveriesView key={id} id={id} />
        </RequireScope>
      )}
    </Route>
    <Route>
      <Page title="Not found">
        <EmptyState title="This page does not exist">Choose one from the menu above.</EmptyState>
      </Page>
    </Route>
  </Switch>
);
