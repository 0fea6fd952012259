import { Router } from "wouter-preact";
import { Header } from "../layout";
import { SessionProvider, useSessionState } from "../session/session";

/** All ways lead to other pages from here. */
const usePageNavigation = (): [string, (to: string) => void] => [location.pathname, (to) => location.assign(to)];

/** The console's frame around the reference, with the session of the browser's other tabs. */
export function Frame() {
  const state = useSessionState();
  return (
    <Router hook={usePageNavigation}>
      <SessionProvider opened={state.is === "in" ? state.opened : undefined}>
        <Header />
      </SessionProvider>
    </Router>
  );
}
