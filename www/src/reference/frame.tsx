import { Router } from "wouter-preact";
import { Header } from "../layout";
import { SessionProvider, useSessionState } from "../session/session";

/** A location hook for the router: navigation loads another page, because the reference is a separate page. */
const usePageNavigation = (): [string, (to: string) => void] => [location.pathname, (to) => location.assign(to)];

/** The console's header, with the session of the browser's other tabs. */
export function Frame() {
  const state = useSessionState();
  return (
    <Router hook={usePageNavigation}>
      <SessionProvider activeSession={state.kind === "in" ? state.session : undefined}>
        <Header />
      </SessionProvider>
    </Router>
  );
}
