// Provides the session as a context. Views render only while there is a session.
import { MutationCache, QueryCache, QueryClient, QueryClientProvider, notifyManager } from "@tanstack/preact-query";
import type { Scope } from "connector-vault/slim";
import { createContext, type ComponentChildren } from "preact";
import { useContext, useEffect, useMemo, useState } from "preact/hooks";
import { Loading } from "../components/loading";
import { LinkErrorPage, isLinkError } from "./link-error-page";
import { SignIn } from "./sign-in";
import { endRejectedSession, onSession, sessionState, signOut, type ActiveSession, type State } from "./store";
import { isUnauthorized } from "./vault";

// Render saved data together with the success message. By default, the query library notifies observers in a later
// task, so views would briefly show the old data.
notifyManager.setScheduler(queueMicrotask);

/** Long, because the catalog changes only when the operator publishes it. */
export const CATALOG_FRESH_MS = 5 * 60_000;
const VAULT_FRESH_MS = 5_000;

/** The active session, with helpers for views. */
export interface Session extends Pick<ActiveSession, "vault" | "whoami"> {
  may(scope: Scope): boolean;
  /** The noun for messages about missing scopes: "Your key" or "Your role". */
  noun: "key" | "role";
  signOut(): void;
}

const Context = createContext<Session | undefined>(undefined);

/** Returns the current session; undefined if the user is signed out. */
export const useOptionalSession = () => useContext(Context);

export function useSession(): Session {
  const session = useOptionalSession();
  if (!session) throw new Error("There is no session.");
  return session;
}

export function useSessionState(): State {
  const [state, setState] = useState(sessionState);
  useEffect(() => {
    const update = () => setState(sessionState());
    update();
    return onSession(update);
  }, []);
  return state;
}

/** Creates the query client of a session. */
function createQueryClient(activeSession: ActiveSession): QueryClient {
  const onError = (error: unknown) => isUnauthorized(error) && endRejectedSession(activeSession);
  return new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      // The npm package already retries. Failures are shown immediately instead of waiting for the network.
      queries: { retry: false, networkMode: "always", staleTime: VAULT_FRESH_MS, refetchOnReconnect: true },
      mutations: { retry: false, networkMode: "always" },
    },
  });
}

/** Provides a session and its query client to the children. */
export function SessionProvider({
  activeSession,
  children,
}: {
  activeSession: ActiveSession | undefined;
  children: ComponentChildren;
}) {
  const client = useMemo(() => activeSession && createQueryClient(activeSession), [activeSession]);
  const session = useMemo<Session | undefined>(
    () =>
      activeSession && {
        vault: activeSession.vault,
        whoami: activeSession.whoami,
        may: (scope) => activeSession.whoami.scopes.includes(scope),
        noun: activeSession.whoami.person === undefined ? "key" : "role",
        signOut,
      },
    [activeSession],
  );
  if (!client) return <>{children}</>;
  return (
    <Context.Provider key={activeSession?.number} value={session}>
      <QueryClientProvider client={client}>{children}</QueryClientProvider>
    </Context.Provider>
  );
}

/** Shows the sign-in page until there is a session. Does not change the URL. */
export function SessionGate({ children }: { children: ComponentChildren }) {
  const state = useSessionState();
  if (state.kind === "in") return <SessionProvider activeSession={state.session}>{children}</SessionProvider>;
  if (state.kind === "opening")
    return (
      <main id="main">
        <Loading name="your session" />
      </main>
    );
  const { reason, failure, retry } = state;
  if (failure === undefined && isLinkError(reason)) return <LinkErrorPage reason={reason} />;
  return <SignIn reason={reason} failure={failure} onRetry={retry} />;
}
