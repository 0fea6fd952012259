import { Router } from "wouter-preact";
import { Top } from "../layout";
import { SessionProvider, useSessionState } from "../session/session";

/** All ways lead to other pages from here. */
const usePage = (): [string, (to: string) => void] => [location.pathname, (to) => location.assign(to)];

/** The console's frame around the reference, with the session of the browser's other tabs. */
export function Frame() {
  const state = useSessionState();
  return (
    <Router hook={usePage}>
      <SessionProvider opened={state.is === "in" ? state.opened : undefined}>
        <Top />
      </SessionProvider>
    </Router>
  );
}
