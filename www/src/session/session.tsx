// Who is signed in. The secret lives in this tab: in memory, and in its session storage so that a reload keeps it.
import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from "@tanstack/preact-query";
import { type ConnectorVault, type Scope, type Whoami } from "connector-vault/slim";
import { createContext, type ComponentChildren } from "preact";
import { useCallback, useContext, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Loading } from "../parts/loading";
import { keepIn, keptIn } from "../parts/storage";
import { forgetAll } from "./forget";
import { SignIn } from "./sign-in";
import { STORED } from "./token";
import { isRefused, openVault } from "./vault";

/** What comes from the catalog changes with a publish only. */
export const CATALOG_FRESH_MS = 5 * 60_000;
const VAULT_FRESH_MS = 5_000;

export interface Session {
  vault: ConnectorVault;
  /** What the key, or the token, opens. */
  who: Whoami;
  may(scope: Scope): boolean;
  signOut(): void;
}

const Context = createContext<Session | undefined>(undefined);

/** The session; views are drawn only when there is one. */
export function useSession(): Session {
  const session = useContext(Context);
  if (!session) throw new Error("There is no session.");
  return session;
}

/** Answers that were given in a session, and how they are kept. */
function answers(onRefused: () => void): QueryClient {
  const onError = (error: unknown) => isRefused(error) && onRefused();
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

type Opened = Pick<Session, "vault" | "who"> & { secret: string };
export type Reason = "refused" | "token-refused" | "signed-out";

/** Why somebody is out whose secret opens nothing any more: a token cannot be typed in again. */
const refusedFor = (secret: string | undefined): Reason => (secret?.startsWith("st_") ? "token-refused" : "refused");

/** Asks for a key while there is none that opens something, and draws its children when there is. The address stays as it is. */
export function SessionGate({ children }: { children: ComponentChildren }) {
  const [opened, setOpened] = useState<Opened>();
  const [reason, setReason] = useState<Reason>();
  const [stored, setStored] = useState(() => keptIn("sessionStorage", STORED));

  const current = useRef<Opened>();
  current.current = opened;

  const leave = useCallback((why: Reason) => {
    if (why === "signed-out") forgetAll();
    keepIn("sessionStorage", STORED, undefined);
    setStored(undefined);
    setOpened(undefined);
    setReason(why);
  }, []);

  const signIn = useCallback(async (secret: string) => {
    const vault = await openVault(secret);
    const who = await vault.whoami();
    keepIn("sessionStorage", STORED, secret);
    setOpened({ vault, who, secret });
  }, []);

  const [failure, setFailure] = useState<unknown>();
  const resume = useCallback(() => {
    if (stored === undefined) return;
    setFailure(undefined);
    signIn(stored).catch((error: unknown) => (isRefused(error) ? leave(refusedFor(stored)) : setFailure(error)));
  }, [stored, signIn, leave]);
  useEffect(() => {
    if (!opened) resume();
  }, [resume]);

  // What a former session asked may be refused late, when another key has opened this one.
  const client = useMemo(() => answers(() => current.current === opened && leave(refusedFor(opened?.secret))), [opened]);
  const session = useMemo<Session | undefined>(
    () => opened && { ...opened, may: (scope) => opened.who.scopes.includes(scope), signOut: () => leave("signed-out") },
    [opened],
  );

  if (session) {
    return (
      <Context.Provider value={session}>
        <QueryClientProvider client={client}>{children}</QueryClientProvider>
      </Context.Provider>
    );
  }
  if (stored !== undefined && failure === undefined) return <main id="main"><Loading what="your session" /></main>;
  return <SignIn reason={reason} failure={failure} onRetry={stored === undefined ? undefined : resume} onSecret={signIn} />;
}
