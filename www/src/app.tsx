import { Redirect, Route, Switch, useLocation } from "wouter-preact";
import { ActionView } from "./actions/view";
import { AgentsView } from "./agents/view";
import { AuditView } from "./audit/view";
import { ConnectionsView } from "./connections/view";
import { ConnectorView } from "./connectors/connector";
import { ConnectorsView } from "./connectors/view";
import { EventsView } from "./events/view";
import { IntegrationsView } from "./integrations/view";
import { KeysView } from "./keys/view";
import { Layout } from "./layout";
import { Overview } from "./overview/view";
import { OwnView } from "./own/view";
import { Boundary } from "./parts/boundary";
import { Empty } from "./parts/empty";
import { Page } from "./parts/page";
import { Needs } from "./session/needs";
import { SessionGate, useSession } from "./session/session";
import { DeliveriesView } from "./webhooks/deliveries";
import { WebhooksView } from "./webhooks/view";

export function App() {
  return (
    <SessionGate>
      <Layout>
        <View />
      </Layout>
    </SessionGate>
  );
}

/**
 * What the address leads to: an end user's link opens one page, a key opens the console. Its failure is told in its place, and
 * keeps the frame around it.
 */
function View() {
  const [path] = useLocation();
  const { who, signOut } = useSession();
  return (
    <Boundary place={path} onSignOut={signOut}>
      {who.identity === undefined ? <OperatorViews /> : <OwnViews />}
    </Boundary>
  );
}

const OwnViews = () => (
  <Switch>
    <Route path="/connections/:id?">{({ id }) => <OwnView opened={id} />}</Route>
    <Route>
      <Redirect to="/connections" replace />
    </Route>
  </Switch>
);

const OperatorViews = () => (
  <Switch>
    <Route path="/">
      <Needs view="Overview" scope="connections:read">
        <Overview />
      </Needs>
    </Route>
    <Route path="/connectors">
      <Needs view="Connectors" scope="catalog:read">
        <ConnectorsView />
      </Needs>
    </Route>
    <Route path="/connectors/:platform">
      {({ platform }) => (
        <Needs view={platform} scope="catalog:read">
          <ConnectorView key={platform} platform={platform} />
        </Needs>
      )}
    </Route>
    <Route path="/connectors/:platform/actions/:key">
      {({ platform, key }) => (
        <Needs view={key} scope="catalog:read">
          <ActionView key={`${platform}/${key}`} platform={platform} action={key} />
        </Needs>
      )}
    </Route>
    <Route path="/connections/:id?">
      {({ id }) => (
        <Needs view="Connections" scope="connections:read">
          <ConnectionsView opened={id} />
        </Needs>
      )}
    </Route>
    <Route path="/integrations">
      <Needs view="Integrations" scope="clients:read">
        <IntegrationsView />
      </Needs>
    </Route>
    <Route path="/events">
      <Needs view="Events" scope="events:read">
        <EventsView />
      </Needs>
    </Route>
    <Route path="/agents">
      <Needs view="Agents" scope="agents:read">
        <AgentsView />
      </Needs>
    </Route>
    <Route path="/audit">
      <Needs view="Audit" scope="audit:read">
        <AuditView />
      </Needs>
    </Route>
    <Route path="/keys">
      <Needs view="API keys" scope="keys:read">
        <KeysView />
      </Needs>
    </Route>
    <Route path="/webhooks">
      <Needs view="Webhooks" scope="webhooks:read">
        <WebhooksView />
      </Needs>
    </Route>
    <Route path="/webhooks/:id">
      {({ id }) => (
        <Needs view="Deliveries" scope="webhooks:read">
          <DeliveriesView key={id} id={id} />
        </Needs>
      )}
    </Route>
    <Route>
      <Page title="Not found">
        <Empty title="There is no such page">Choose one from the menu above.</Empty>
      </Page>
    </Route>
  </Switch>
);
