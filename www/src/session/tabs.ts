// One session for the tabs of a browser. A tab hands its secret to another one in a message and never writes it down: a
// session lives as long as one tab that has it. Browsers deliver messages of a BroadcastChannel to pages of the same origin
// only, and all scripts of this origin are our own (see the Content-Security-Policy).

const NAME = "connector-vault.session";
/** The longest wait for an answer, in milliseconds: the tabs that were counted may be busy or frozen. */
const TIMEOUT_MS = 1_000;
/** The wait where tabs can't be counted: pages without TLS have no locks. */
const TIMEOUT_WITHOUT_LOCKS_MS = 150;

type Message =
  | { is: "ask"; from: string }
  | { is: "answer"; to: string; secret: string; usedAt: number }
  | { is: "signed-in" | "signed-out" | "resumed" };

/** This tab, as the others see it. */
export interface Tab {
  /** The secret of its session. */
  secret(): string | undefined;
  /** Whether somebody has signed out, and nobody has signed in since. */
  isSignedOut(): boolean;
  /** Another tab has a session now. */
  onSession(): void;
  /** Another tab has signed out. */
  onSignedOut(): void;
}

const channel = typeof BroadcastChannel === "function" ? new BroadcastChannel(NAME) : undefined;
const send = (message: Message) => channel?.postMessage(message);
const listen = (handle: (message: Message) => void) => {
  const onMessage = ({ data }: MessageEvent<Message | null>) => data && handle(data);
  channel?.addEventListener("message", onMessage);
  return () => channel?.removeEventListener("message", onMessage);
};

/** When somebody last used this tab: a new tab goes on with the session of the one that opened it. */
let lastUsedAt = 0;

/** Lets this tab answer the others. To be called once. */
export function joinTabs(tab: Tab): void {
  for (const event of ["pointerdown", "keydown"])
    addEventListener(event, () => (lastUsedAt = Date.now()), { capture: true, passive: true });
  listen((message) => {
    const secret = tab.secret();
    if (message.is === "ask" && secret !== undefined)
      send({ is: "answer", to: message.from, secret, usedAt: lastUsedAt });
    else if (message.is === "signed-out") tab.onSignedOut();
    // It slept while somebody signed out.
    else if (message.is === "resumed" && tab.isSignedOut()) send({ is: "signed-out" });
    else if (message.is === "resumed" || message.is === "signed-in") tab.onSession();
  });
}

/** Tells the other tabs what has happened in this one; of a session once they can count it. */
export const broadcast = (is: "signed-in" | "signed-out" | "resumed") => void granted.then(() => send({ is }));

/** The secrets of the other tabs' sessions; that of the tab used last comes first. */
export async function requestSecrets(): Promise<string[]> {
  const holders = await countSessionTabs();
  if (channel === undefined || holders === 0) return [];
  const from = crypto.getRandomValues(new Uint32Array(4)).join("-");
  const answers: Extract<Message, { is: "answer" }>[] = [];
  await new Promise<void>((done) => {
    const timer = setTimeout(done, holders === undefined ? TIMEOUT_WITHOUT_LOCKS_MS : TIMEOUT_MS);
    const ignore = listen((message) => {
      if (message.is !== "answer" || message.to !== from) return;
      answers.push(message);
      if (answers.length !== holders) return;
      clearTimeout(timer);
      ignore();
      done();
    });
    send({ is: "ask", from });
  });
  return answers.sort((a, b) => b.usedAt - a.usedAt).map(({ secret }) => secret);
}

/** How many tabs hold a session; undefined where the browser can't tell. */
async function countSessionTabs(): Promise<number | undefined> {
  if (!("locks" in navigator)) return undefined;
  const state = await navigator.locks.query().catch(() => undefined);
  return state?.held?.filter(({ name }) => name === NAME).length;
}

let release: (() => void) | undefined;
let granted: Promise<void> = Promise.resolve();

/** Lets other tabs know that this one holds a session, or holds none any more. It keeps the browser from freezing the tab, too. */
export function setHolding(isHolding: boolean): void {
  if (isHolding === (release !== undefined)) return;
  release?.();
  release = undefined;
  if (!isHolding || !("locks" in navigator)) return;
  const held = new Promise<void>((done) => (release = done));
  granted = new Promise((done) => {
    const hold = () => {
      done();
      return held;
    };
    navigator.locks.request(NAME, { mode: "shared" }, hold).catch(() => done());
  });
}
