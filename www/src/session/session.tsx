// The session, for what is drawn: views are drawn only while there is one.
import { MutationCache, QueryCache, QueryClient, QueryClientProvider, notifyManager } from "@tanstack/preact-query";
import type { Scope } from "connector-vault/slim";
import { createContext, type ComponentChildren } from "preact";
import { useContext, useEffect, useMemo, useState } from "preact/hooks";
import { Loading } from "../components/loading";
import { LinkErrorPage, isLinkError } from "./link-error-page";
import { SignIn } from "./sign-in";
import { endRejectedSession, onSession, sessionState, signOut, type ActiveSession, type State } from "./store";
import { isUnauthorized } from "./vault";

// What was saved is drawn together with the word that it was: by default, views learn of it a task later, and show what was
// there before for that long.
notifyManager.setScheduler(queueMicrotask);

/** What comes from the catalog changes with a publish only. */
export const CATALOG_FRESH_MS = 5 * 60_000;
const VAULT_FRESH_MS = 5_000;

/** `who`: what the key, or the token, opens. */
export interface Session extends Pick<ActiveSession, "vault" | "who"> {
  may(scope: Scope): boolean;
  signOut(): void;
}

const Context = createContext<Session | undefined>(undefined);

/** The session; undefined where nobody is signed in. */
export const useMaybeSession = () => useContext(Context);

/** The session; views are drawn only when there is one. */
export function useSession(): Session {
  const session = useMaybeSession();
  if (!session) throw new Error("There is no session.");
  return session;
}

/** Whether somebody is signed in, and what is asked of them. */
export function useSessionState(): State {
  const [state, setState] = useState(sessionState);
  useEffect(() => {
    const update = () => setState(sessionState());
    update();
    return onSession(update);
  }, []);
  return state;
}

/** Answers that were given in a session, and how they are kept. */
function createQueryClient(opened: ActiveSession): QueryClient {
  const onError = (error: unknown) => isUnauthorized(error) && endRejectedSession(opened);
  return new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      // The package tries again by itself; and what is unreachable is to be told, not waited for.
      queries: { retry: false, networkMode: "always", staleTime: VAULT_FRESH_MS, refetchOnReconnect: true },
      mutations: { retry: false, networkMode: "always" },
    },
  });
}

/** Gives a session to its children, and lets go of all that they have been told when it changes. */
export function SessionProvider({
  opened,
  children,
}: {
  opened: ActiveSession | undefined;
  children: ComponentChildren;
}) {
  const client = useMemo(() => opened && createQueryClient(opened), [opened]);
  const session = useMemo<Session | undefined>(
    () =>
      opened && { vault: opened.vault, who: opened.who, may: (scope) => opened.who.scopes.includes(scope), signOut },
    [opened],
  );
  if (!client) return <>{children}</>;
  return (
    <Context.Provider key={opened?.number} value={session}>
      <QueryClientProvider client={client}>{children}</QueryClientProvider>
    </Context.Provider>
  );
}

/** Asks for a key while there is none that opens something, and draws its children when there is. The address stays as it is. */
export function SessionGate({ children }: { children: ComponentChildren }) {
  const state = useSessionState();
  if (state.is === "in") return <SessionProvider opened={state.opened}>{children}</SessionProvider>;
  if (state.is === "opening")
    return (
      <main id="main">
        <Loading what="your session" />
      </main>
    );
  const { reason, failure, retry } = state;
  if (failure === undefined && isLinkError(reason)) return <LinkErrorPage reason={reason} />;
  return <SignIn reason={reason} failure={failure} onRetry={retry} />;
}
