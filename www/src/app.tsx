import { Route, Switch } from "wouter-preact";
import { ConnectionsView } from "./connections/view";
import { ConnectorView } from "./connectors/connector";
import { ConnectorsView } from "./connectors/view";
import { Layout } from "./layout";
import { Overview } from "./overview/view";
import { Empty } from "./parts/empty";
import { Page } from "./parts/page";
import { SessionGate } from "./session/session";

export function App() {
  return (
    <SessionGate>
      <Layout>
        <Switch>
          <Route path="/"><Overview /></Route>
          <Route path="/connectors"><ConnectorsView /></Route>
          <Route path="/connectors/:platform">{({ platform }) => <ConnectorView key={platform} platform={platform} />}</Route>
          <Route path="/connections"><ConnectionsView /></Route>
          <Route>
            <Page title="Not found"><Empty title="There is no such page">Choose one from the menu above.</Empty></Page>
          </Route>
        </Switch>
      </Layout>
    </SessionGate>
  );
}
