// Who is signed in, and how that changes: by a key, by a link, by another tab, or because a secret opens nothing any more.
// The secret lives in this tab, in memory and in its session storage, so that a reload keeps it.
import type { ConnectorVault, Whoami } from "connector-vault/slim";
import { writeStorage, readStorage } from "../components/storage";
import { onLink, takeLink, type Link } from "./link";
import { requestSecrets, setHolding, joinTabs, broadcast } from "./tabs";
import { isUnauthorized, openVault } from "./vault";

const SECRET_KEY = "connector-vault.secret";
/** Where the key of the other environment is. */
const OTHER_SECRET_KEY = "connector-vault.other-environment";

/** A secret that opens something. */
export interface ActiveSession {
  /** Tells one from another without naming a secret. */
  number: number;
  secret: string;
  vault: ConnectorVault;
  who: Whoami;
}

/** Why nobody is signed in, or why a link was of no use. */
export type Reason =
  | "refused"
  | "token-refused"
  | "link-refused"
  | "link-damaged"
  | "link-untried"
  | "link-left"
  | "signed-out";

export type State =
  | { is: "opening" }
  /** `failure`: the secret at hand could not be tried; `retry` tries again. */
  | { is: "out"; reason?: Reason | undefined; failure?: unknown; retry?: () => void }
  /** `link`: what a link would open instead, until somebody decides; `notice`: why a link opened nothing. */
  | { is: "in"; opened: ActiveSession; link?: ActiveSession; notice?: Reason | undefined };

let state: State = { is: "opening" };
const listeners = new Set<() => void>();

export const sessionState = () => state;

/** Calls back after each change; returns what ends that. */
export function onSession(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

function setState(next: State) {
  state = next;
  setHolding(next.is === "in");
  for (const listener of [...listeners]) listener();
}

/** What views keep beyond their own life, each under the function that makes it. */
let memoized = new Map<() => unknown, unknown>();

/**
 * Something that a view keeps until somebody signs out: returns what gives it. A key that expires leaves it, because what
 * was typed must be there again after the next sign-in.
 */
export function untilSignOut<Value>(make: () => Value): () => Value {
  return () => {
    if (!memoized.has(make)) memoized.set(make, make());
    return memoized.get(make) as Value;
  };
}

const otherSecret = () => readStorage("sessionStorage", OTHER_SECRET_KEY);
const storeOtherSecret = (secret: string | undefined) => writeStorage("sessionStorage", OTHER_SECRET_KEY, secret);
const storedSecret = () => readStorage("sessionStorage", SECRET_KEY);
const storeSecret = (secret: string | undefined) => writeStorage("sessionStorage", SECRET_KEY, secret);

let sessionCount = 0;

async function open(secret: string): Promise<ActiveSession> {
  const vault = await openVault(secret);
  return { number: (sessionCount += 1), secret, vault, who: await vault.whoami() };
}

/** The same, and undefined when the secret opens nothing. */
const openIfAccepted = (secret: string) =>
  open(secret).catch((error: unknown) => {
    if (isUnauthorized(error)) return undefined;
    throw error;
  });

const isToken = (secret: string | undefined) => secret?.startsWith("st_") === true;
const refusalReason = (secret: string): Reason => (isToken(secret) ? "token-refused" : "refused");
/** Whether two secrets open the same: a link that renews another one changes nothing for its user. */
const isSameIdentity = ({ who: a }: ActiveSession, { who: b }: ActiveSession) =>
  a.identity !== undefined &&
  a.identity === b.identity &&
  a.identityType === b.identityType &&
  a.account === b.account &&
  a.environment === b.environment;

/** Each change of mind ends what was under way. */
let actionNumber = 0;
const startAction = () => {
  const mine = (actionNumber += 1);
  return () => mine !== actionNumber;
};

function enter(next: ActiveSession, more: { notice?: Reason | undefined; link?: ActiveSession } = {}) {
  startAction();
  storeSecret(next.secret);
  setState({ is: "in", opened: next, ...more });
}

function leave(reason: Reason | undefined) {
  startAction();
  storeSecret(undefined);
  setState({ is: "out", reason });
}

interface StartOptions {
  /** What this tab has kept. */
  own?: string | undefined;
  link?: Link | undefined;
  /** Why what it had is no session any more, and the secret of that. */
  reason?: Reason | undefined;
  lost?: string | undefined;
}

/** Finds a session, this tab's own or another tab's, and then looks at the link. */
async function begin(from: StartOptions): Promise<void> {
  const isLate = startAction();
  setState({ is: "opening" });
  try {
    const { current, isOwn, reason } = await findSession(from);
    const offered = await openOffered(from.link, current);
    if (isLate()) return;
    const notice =
      from.link === undefined || offered ? undefined : from.link === "damaged" ? "link-damaged" : "link-refused";
    if (current && offered !== current && !(offered && isSameIdentity(current, offered))) {
      enter(current, { notice, ...(offered && { link: offered }) });
      if (isOwn) broadcast("resumed");
    } else if (offered) {
      enter(offered);
      broadcast("signed-in");
    } else leave(notice ?? reason);
  } catch (failure) {
    if (!isLate()) setState({ is: "out", reason: from.reason, failure, retry: () => void begin(from) });
  }
}

/** The session that this tab goes on with, if any. */
async function findSession({
  own,
  reason,
  lost,
}: StartOptions): Promise<{ current?: ActiveSession; isOwn: boolean; reason: Reason | undefined }> {
  if (own !== undefined) {
    const current = await openIfAccepted(own);
    if (current) return { current, isOwn: true, reason };
    [lost, reason] = [own, refusalReason(own)];
  }
  for (const secret of await requestSecrets()) {
    const current = secret === lost ? undefined : await openIfAccepted(secret);
    if (current) return { current, isOwn: false, reason };
  }
  return { isOwn: false, reason };
}

/** What a link opens, if anything. */
async function openOffered(
  link: Link | undefined,
  current: ActiveSession | undefined,
): Promise<ActiveSession | undefined> {
  if (link === undefined || link === "damaged") return undefined;
  return link.token === current?.secret ? current : openIfAccepted(link.token);
}

/** Starts the session of this tab. To be called once, before anything is drawn. */
export function startSession(): void {
  const link = takeLink();
  joinTabs({
    secret: () => (state.is === "in" ? state.opened.secret : undefined),
    isSignedOut: () => state.is === "out" && (state.reason === "signed-out" || state.reason === "link-left"),
    onSession: () => {
      if (state.is === "out") void begin({ own: storedSecret(), reason: state.reason });
    },
    onSignedOut: () => {
      // Whoever is out for another reason reads that one.
      if (state.is !== "out" || state.failure !== undefined) endSession();
    },
  });
  onLink((next) => void openLink(next));
  void begin({ own: storedSecret(), link });
}

/** A link that is opened in this very page. What is drawn stays until somebody decides. */
async function openLink(link: Link): Promise<void> {
  if (state.is !== "in") return begin({ own: storedSecret(), link });
  const { opened: current } = state;
  const isLate = startAction();
  let notice: Reason = link === "damaged" ? "link-damaged" : "link-refused";
  const offered = await openOffered(link, current).catch(() => {
    notice = "link-untried";
    return undefined;
  });
  if (isLate() || offered === current) return;
  if (offered === undefined) setState({ is: "in", opened: current, notice });
  else if (isSameIdentity(current, offered)) enter(offered);
  else setState({ is: "in", opened: current, link: offered });
}

/**
 * Signs in with a key.
 * @throws what the service has against it
 */
export async function signIn(secret: string): Promise<void> {
  const isLate = startAction();
  const next = await open(secret);
  if (isLate()) return;
  enter(next);
  broadcast("signed-in");
}

/** A key of another account than that of the session. */
export class OtherAccountError extends Error {
  constructor(readonly account: string) {
    super("The key is of another account.");
  }
}

/**
 * Goes on in the account's other environment, in this tab only: with this key, or with the one that is kept. The key of the
 * environment that is left is kept for the way back.
 * @returns false if no key is kept that still opens the other environment
 * @throws what the service has against the key
 */
export async function openOtherEnvironment(secret?: string): Promise<boolean> {
  if (state.is !== "in") return false;
  const { opened: current } = state;
  const isLate = startAction();
  const other = secret ?? otherSecret();
  const next = other === undefined ? undefined : await (secret ? open(secret) : openIfAccepted(other));
  if (isLate()) return true;
  const { account, environment } = next?.who ?? {};
  const isOfAccount = account === current.who.account && environment !== current.who.environment;
  if (next === undefined || !isOfAccount) {
    if (secret && account !== undefined) throw new OtherAccountError(account);
    storeOtherSecret(undefined);
    return false;
  }
  storeOtherSecret(current.secret);
  // What was typed belongs to the other environment.
  memoized = new Map();
  enter(next);
  return true;
}

function endSession() {
  memoized = new Map();
  storeOtherSecret(undefined);
  leave(isToken(storedSecret()) ? "link-left" : "signed-out");
}

/** Signs out, in all tabs. */
export function signOut(): void {
  endSession();
  broadcast("signed-out");
}

/** A session's secret opens nothing any more. Another tab may have a newer one. */
export function endRejectedSession(lost: ActiveSession): void {
  if (state.is !== "in" || state.opened !== lost) return;
  storeSecret(undefined);
  void begin({ lost: lost.secret, reason: refusalReason(lost.secret) });
}

/** Decides about the link: opens it in this tab, or keeps the session. */
export function decideOnLink(isOpened: boolean): void {
  if (state.is !== "in" || !state.link) return;
  if (!isOpened) {
    setState({ is: "in", opened: state.opened });
    return;
  }
  memoized = new Map();
  enter(state.link);
}

/** Lets go of a notice that has been read. */
export function dismissNotice(): void {
  if (state.is === "in") setState({ is: "in", opened: state.opened });
}
