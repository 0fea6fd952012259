// The session store. Signs in with a key, a link or the session of another tab, and ends a session whose secret is
// rejected. The secret is in memory and in this tab's session storage, so that it survives a reload.
import type { ConnectorVault, Whoami } from "connector-vault/slim";
import { writeStorage, readStorage } from "../components/storage";
import { onLink, takeLink, type Link } from "./link";
import { type CompletedSignIn, exchange, isPersonToken, storeLastSignIn, takeSignIn } from "./person";
import { requestSecrets, setHoldsLock, joinTabs, broadcast } from "./tabs";
import { isUnauthorized, openVault } from "./vault";

const SECRET_KEY = "connector-vault.secret";
/** The storage key for the API key of the other environment. */
const OTHER_SECRET_KEY = "connector-vault.other-environment";

/** A session whose secret the service has accepted. */
export interface ActiveSession {
  /** Identifies the session without revealing its secret. */
  number: number;
  secret: string;
  vault: ConnectorVault;
  whoami: Whoami;
}

/** Why the user is signed out, or why a link could not be opened. */
export type Reason =
  | "refused"
  | "token-refused"
  | "session-ended"
  | "sign-in-refused"
  | "link-refused"
  | "link-damaged"
  | "link-untried"
  | "link-left"
  | "signed-out";

export type State =
  | { kind: "opening" }
  /** `failure`: why the secret could not be verified. `retry` repeats the verification. */
  | { kind: "out"; reason?: Reason | undefined; failure?: unknown; retry?: () => void }
  /** `link`: the session of a link, until the user accepts or declines it. `notice`: why a link could not be opened. */
  | { kind: "in"; session: ActiveSession; link?: ActiveSession; notice?: Reason | undefined };

let state: State = { kind: "opening" };
const listeners = new Set<() => void>();

export const sessionState = () => state;

/** Calls `listener` after each change of the session. Returns a function that unsubscribes. */
export function onSession(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

function setState(next: State) {
  state = next;
  setHoldsLock(next.kind === "in");
  for (const listener of [...listeners]) listener();
}

/** Values of `untilSignOut`, by the function that creates them. */
let valuesUntilSignOut = new Map<() => unknown, unknown>();

/**
 * Returns a function that returns the same value until the user signs out. The value survives an expired key, so
 * unsaved input still exists after signing in again.
 */
export function untilSignOut<Value>(create: () => Value): () => Value {
  return () => {
    if (!valuesUntilSignOut.has(create)) valuesUntilSignOut.set(create, create());
    return valuesUntilSignOut.get(create) as Value;
  };
}

const otherSecret = () => readStorage("sessionStorage", OTHER_SECRET_KEY);
const storeOtherSecret = (secret: string | undefined) => writeStorage("sessionStorage", OTHER_SECRET_KEY, secret);
const storedSecret = () => readStorage("sessionStorage", SECRET_KEY);
const storeSecret = (secret: string | undefined) => writeStorage("sessionStorage", SECRET_KEY, secret);

let sessionCount = 0;

async function openSession(secret: string): Promise<ActiveSession> {
  const vault = await openVault(secret);
  return { number: (sessionCount += 1), secret, vault, whoami: await vault.whoami() };
}

/** Opens a session. Returns undefined if the service rejects the secret. */
const openIfAccepted = (secret: string) =>
  openSession(secret).catch((error: unknown) => {
    if (isUnauthorized(error)) return undefined;
    throw error;
  });

const isToken = (secret: string | undefined) => secret?.startsWith("st_") === true;
const refusalReason = (secret: string): Reason =>
  isToken(secret) ? "token-refused" : isPersonToken(secret) ? "session-ended" : "refused";
/** Whether two tokens act for the same identity. If so, a newer link replaces the session without a question. */
const isSameIdentity = ({ whoami: a }: ActiveSession, { whoami: b }: ActiveSession) =>
  a.identity !== undefined &&
  a.identity === b.identity &&
  a.identityType === b.identityType &&
  a.account === b.account &&
  a.environment === b.environment;

/** A newer action cancels the one in progress. */
let actionNumber = 0;
const startAction = () => {
  const ownNumber = (actionNumber += 1);
  return () => ownNumber !== actionNumber;
};

function enterSession(session: ActiveSession, details: { notice?: Reason | undefined; link?: ActiveSession } = {}) {
  startAction();
  storeSecret(session.secret);
  setState({ kind: "in", session, ...details });
}

function leaveSession(reason: Reason | undefined) {
  startAction();
  storeSecret(undefined);
  setState({ kind: "out", reason });
}

interface StartOptions {
  /** The secret in this tab's session storage. */
  stored?: string | undefined;
  link?: Link | undefined;
  /** Why the previous session ended, and its secret. */
  reason?: Reason | undefined;
  rejectedSecret?: string | undefined;
}

/** Restores the session of this tab, or takes over that of another tab. Then handles the link. */
async function restoreSession(options: StartOptions): Promise<void> {
  const isSuperseded = startAction();
  setState({ kind: "opening" });
  try {
    const { current, isOwn, reason } = await findSession(options);
    const linkSession = await openLinkSession(options.link, current);
    if (isSuperseded()) return;
    const notice =
      options.link === undefined || linkSession
        ? undefined
        : options.link === "damaged"
          ? "link-damaged"
          : "link-refused";
    if (current && linkSession !== current && !(linkSession && isSameIdentity(current, linkSession))) {
      enterSession(current, { notice, ...(linkSession && { link: linkSession }) });
      if (isOwn) broadcast("resumed");
    } else if (linkSession) {
      enterSession(linkSession);
      broadcast("signed-in");
    } else leaveSession(notice ?? reason);
  } catch (failure) {
    if (!isSuperseded())
      setState({ kind: "out", reason: options.reason, failure, retry: () => void restoreSession(options) });
  }
}

async function findSession({
  stored,
  reason,
  rejectedSecret,
}: StartOptions): Promise<{ current?: ActiveSession; isOwn: boolean; reason: Reason | undefined }> {
  if (stored !== undefined) {
    const current = await openIfAccepted(stored);
    if (current) return { current, isOwn: true, reason };
    [rejectedSecret, reason] = [stored, refusalReason(stored)];
  }
  for (const secret of await requestSecrets()) {
    const current = secret === rejectedSecret ? undefined : await openIfAccepted(secret);
    if (current) return { current, isOwn: false, reason };
  }
  return { isOwn: false, reason };
}

async function openLinkSession(
  link: Link | undefined,
  current: ActiveSession | undefined,
): Promise<ActiveSession | undefined> {
  if (link === undefined || link === "damaged") return undefined;
  return link.token === current?.secret ? current : openIfAccepted(link.token);
}

/** Starts the session of this tab. Call it once, before rendering. */
export function startSession(): void {
  const link = takeLink();
  joinTabs({
    secret: () => (state.kind === "in" ? state.session.secret : undefined),
    isSignedOut: () => state.kind === "out" && (state.reason === "signed-out" || state.reason === "link-left"),
    onSession: () => {
      if (state.kind === "out") void restoreSession({ stored: storedSecret(), reason: state.reason });
    },
    onSignedOut: () => {
      // If the user was already signed out for another reason, keep its message.
      if (state.kind !== "out" || state.failure !== undefined) endSession();
    },
  });
  onLink((newLink) => void openLink(newLink));
  const completed = takeSignIn();
  if (completed) void completeSignIn(completed);
  else void restoreSession({ stored: storedSecret(), link });
}

/** Exchanges the code of a person's sign-in, and replaces the session of this tab. */
async function completeSignIn(completed: CompletedSignIn): Promise<void> {
  const isSuperseded = startAction();
  setState({ kind: "opening" });
  try {
    const token = await exchange(completed);
    const session = token === undefined ? undefined : await openIfAccepted(token);
    if (isSuperseded()) return;
    if (session === undefined) return await restoreSession({ stored: storedSecret(), reason: "sign-in-refused" });
    const { account, environment } = session.whoami;
    storeLastSignIn({ id: completed.id, account, environment });
    valuesUntilSignOut = new Map();
    enterSession(session);
    broadcast("signed-in");
  } catch (failure) {
    // The code may have been used, so a retry restores the previous session instead.
    if (!isSuperseded())
      setState({ kind: "out", failure, retry: () => void restoreSession({ stored: storedSecret() }) });
  }
}

/** Handles a link that was opened in the same page. Keeps the current session until the user decides. */
async function openLink(link: Link): Promise<void> {
  if (state.kind !== "in") return restoreSession({ stored: storedSecret(), link });
  const { session: current } = state;
  const isSuperseded = startAction();
  let notice: Reason = link === "damaged" ? "link-damaged" : "link-refused";
  const linkSession = await openLinkSession(link, current).catch(() => {
    notice = "link-untried";
    return undefined;
  });
  if (isSuperseded() || linkSession === current) return;
  if (linkSession === undefined) setState({ kind: "in", session: current, notice });
  else if (isSameIdentity(current, linkSession)) enterSession(linkSession);
  else setState({ kind: "in", session: current, link: linkSession });
}

/** Signs in with a key. Throws the service's error if the key is rejected. */
export async function signIn(secret: string): Promise<void> {
  const isSuperseded = startAction();
  const session = await openSession(secret);
  if (isSuperseded()) return;
  enterSession(session);
  broadcast("signed-in");
}

/** Thrown if the key belongs to a different account than the session. */
export class OtherAccountError extends Error {
  constructor(readonly account: string) {
    super("The key belongs to another account.");
  }
}

/**
 * Switches this tab to the account's other environment, with the given key or the stored one. Stores the current key,
 * so that the user can switch back. Returns false if there is no valid key. Throws the service's error if it rejects
 * the given key.
 */
export async function openOtherEnvironment(secret?: string): Promise<boolean> {
  if (state.kind !== "in") return false;
  const { session: current } = state;
  const isSuperseded = startAction();
  const targetSecret = secret ?? otherSecret();
  const session =
    targetSecret === undefined ? undefined : await (secret ? openSession(secret) : openIfAccepted(targetSecret));
  if (isSuperseded()) return true;
  const { account, environment } = session?.whoami ?? {};
  const belongsToAccount = account === current.whoami.account && environment !== current.whoami.environment;
  if (session === undefined || !belongsToAccount) {
    if (secret && account !== undefined) throw new OtherAccountError(account);
    storeOtherSecret(undefined);
    return false;
  }
  storeOtherSecret(current.secret);
  // Discard unsaved input, which belongs to the previous environment.
  valuesUntilSignOut = new Map();
  enterSession(session);
  return true;
}

/** Ends this tab's sessions of people at the service. Ignores failures, because the browser deletes their tokens. */
function endPersonSessions() {
  const secrets = [state.kind === "in" ? state.session.secret : storedSecret(), otherSecret()];
  for (const secret of new Set(secrets))
    if (secret !== undefined && isPersonToken(secret))
      openVault(secret)
        .then((vault) => vault.consoleSessions.signOut())
        .catch(() => {});
}

function endSession() {
  endPersonSessions();
  valuesUntilSignOut = new Map();
  storeOtherSecret(undefined);
  leaveSession(isToken(storedSecret()) ? "link-left" : "signed-out");
}

/** Signs out in all tabs, and ends sessions of people at the service. */
export function signOut(): void {
  endSession();
  broadcast("signed-out");
}

/** Ends a session whose secret was rejected, and looks for a newer session in other tabs. */
export function endRejectedSession(rejected: ActiveSession): void {
  if (state.kind !== "in" || state.session !== rejected) return;
  storeSecret(undefined);
  void restoreSession({ rejectedSecret: rejected.secret, reason: refusalReason(rejected.secret) });
}

/** Handles the user's decision about a link: opens it in this tab, or keeps the current session. */
export function decideOnLink(isOpened: boolean): void {
  if (state.kind !== "in" || !state.link) return;
  if (!isOpened) {
    setState({ kind: "in", session: state.session });
    return;
  }
  valuesUntilSignOut = new Map();
  enterSession(state.link);
}

export function dismissNotice(): void {
  if (state.kind === "in") setState({ kind: "in", session: state.session });
}
