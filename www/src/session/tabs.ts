// Shares one session between the tabs of a browser. A tab sends its secret to other tabs in a message instead of
// writing it to shared storage, so the session ends with its last tab. A BroadcastChannel reaches only pages of the
// same origin, and the Content-Security-Policy allows only our own scripts there.

const CHANNEL_NAME = "connector-vault.session";
/** The timeout for replies of all counted tabs, which may be busy or frozen. */
const TIMEOUT_MS = 1_000;
/** The timeout if tabs can't be counted, because browsers have no locks without TLS. */
const TIMEOUT_WITHOUT_LOCKS_MS = 150;

type Message =
  | { kind: "request"; from: string }
  | { kind: "reply"; to: string; secret: string; lastUsedAt: number }
  | { kind: "signed-in" | "signed-out" | "resumed" };

/** The functions with which other tabs access this tab's session. */
export interface Tab {
  secret(): string | undefined;
  /** Whether the user has signed out and not signed in again. */
  isSignedOut(): boolean;
  /** Called when another tab signs in, or resumes after being frozen. */
  onSession(): void;
  /** Called when another tab signs out. */
  onSignedOut(): void;
}

const channel = typeof BroadcastChannel === "function" ? new BroadcastChannel(CHANNEL_NAME) : undefined;
const send = (message: Message) => channel?.postMessage(message);
const listen = (handle: (message: Message) => void) => {
  const onMessage = ({ data }: MessageEvent<Message | null>) => data && handle(data);
  channel?.addEventListener("message", onMessage);
  return () => channel?.removeEventListener("message", onMessage);
};

/** When the user last used this tab. A new tab takes over the session of the most recently used tab. */
let lastUsedAt = 0;

/** Starts to reply to messages of other tabs. Call it once. */
export function joinTabs(tab: Tab): void {
  for (const event of ["pointerdown", "keydown"])
    addEventListener(event, () => (lastUsedAt = Date.now()), { capture: true, passive: true });
  listen((message) => {
    const secret = tab.secret();
    if (message.kind === "request" && secret !== undefined)
      send({ kind: "reply", to: message.from, secret, lastUsedAt });
    else if (message.kind === "signed-out") tab.onSignedOut();
    // The sender was frozen while the user signed out, so it missed the message.
    else if (message.kind === "resumed" && tab.isSignedOut()) send({ kind: "signed-out" });
    else if (message.kind === "resumed" || message.kind === "signed-in") tab.onSession();
  });
}

/** Notifies the other tabs as soon as this tab holds its lock, so that they can count its session. */
export const broadcast = (kind: "signed-in" | "signed-out" | "resumed") => void lockAcquired.then(() => send({ kind }));

/** Requests the secrets of the other tabs' sessions. Returns them, most recently used tab first. */
export async function requestSecrets(): Promise<string[]> {
  const lockHolders = await countSessionTabs();
  if (channel === undefined || lockHolders === 0) return [];
  const from = crypto.getRandomValues(new Uint32Array(4)).join("-");
  const replies: Extract<Message, { kind: "reply" }>[] = [];
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, lockHolders === undefined ? TIMEOUT_WITHOUT_LOCKS_MS : TIMEOUT_MS);
    const ignore = listen((message) => {
      if (message.kind !== "reply" || message.to !== from) return;
      replies.push(message);
      if (replies.length !== lockHolders) return;
      clearTimeout(timer);
      ignore();
      resolve();
    });
    send({ kind: "request", from });
  });
  return replies.sort((a, b) => b.lastUsedAt - a.lastUsedAt).map(({ secret }) => secret);
}

/** Counts the tabs with a session. Returns undefined if the browser has no locks, or can't list them. */
async function countSessionTabs(): Promise<number | undefined> {
  if (!("locks" in navigator)) return undefined;
  const state = await navigator.locks.query().catch(() => undefined);
  return state?.held?.filter(({ name }) => name === CHANNEL_NAME).length;
}

let release: (() => void) | undefined;
let lockAcquired: Promise<void> = Promise.resolve();

/**
 * Acquires or releases the lock of a tab with a session, which lets other tabs count the session. The lock also
 * prevents the browser from freezing the tab.
 */
export function setHoldsLock(isHolding: boolean): void {
  if (isHolding === (release !== undefined)) return;
  release?.();
  release = undefined;
  if (!isHolding || !("locks" in navigator)) return;
  const lockReleased = new Promise<void>((resolve) => (release = resolve));
  lockAcquired = new Promise((resolve) => {
    const holdLock = () => {
      resolve();
      return lockReleased;
    };
    navigator.locks.request(CHANNEL_NAME, { mode: "shared" }, holdLock).catch(() => resolve());
  });
}
