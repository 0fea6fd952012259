// Who is signed in, and how that changes: by a key, by a link, by another tab, or because a secret opens nothing any more.
// The secret lives in this tab, in memory and in its session storage, so that a reload keeps it.
import type { ConnectorVault, Whoami } from "connector-vault/slim";
import { keepIn, keptIn } from "../parts/storage";
import { onLink, takeLink, type Link } from "./link";
import { askTabs, hold, join, tell } from "./tabs";
import { isRefused, openVault } from "./vault";

const PLACE = "connector-vault.secret";
/** Where the key of the other environment is. */
const OTHER = "connector-vault.other-environment";

/** A secret that opens something. */
export interface Opened {
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
  | { is: "in"; opened: Opened; link?: Opened; notice?: Reason | undefined };

let state: State = { is: "opening" };
const listeners = new Set<() => void>();

export const sessionState = () => state;

/** Calls back after each change; returns what ends that. */
export function onSession(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

function show(next: State) {
  state = next;
  hold(next.is === "in");
  for (const listener of [...listeners]) listener();
}

/** What views keep beyond their own life, each under the function that makes it. */
let memory = new Map<() => unknown, unknown>();

/**
 * Something that a view keeps until somebody signs out: returns what gives it. A key that expires leaves it, because what
 * was typed must be there again after the next sign-in.
 */
export function untilSignOut<Value>(make: () => Value): () => Value {
  return () => {
    if (!memory.has(make)) memory.set(make, make());
    return memory.get(make) as Value;
  };
}

const keptOther = () => keptIn("sessionStorage", OTHER);
const keepOther = (secret: string | undefined) => keepIn("sessionStorage", OTHER, secret);
const kept = () => keptIn("sessionStorage", PLACE);
const keep = (secret: string | undefined) => keepIn("sessionStorage", PLACE, secret);

let opened = 0;

async function open(secret: string): Promise<Opened> {
  const vault = await openVault(secret);
  return { number: (opened += 1), secret, vault, who: await vault.whoami() };
}

/** The same, and undefined when the secret opens nothing. */
const openIfAccepted = (secret: string) =>
  open(secret).catch((error: unknown) => {
    if (isRefused(error)) return undefined;
    throw error;
  });

const isToken = (secret: string | undefined) => secret?.startsWith("st_") === true;
const refusedFor = (secret: string): Reason => (isToken(secret) ? "token-refused" : "refused");
/** Whether two secrets open the same: a link that renews another one changes nothing for its user. */
const isSame = ({ who: a }: Opened, { who: b }: Opened) =>
  a.identity !== undefined &&
  a.identity === b.identity &&
  a.identityType === b.identityType &&
  a.account === b.account &&
  a.environment === b.environment;

/** Each change of mind ends what was under way. */
let round = 0;
const newRound = () => {
  const mine = (round += 1);
  return () => mine !== round;
};

function enter(next: Opened, more: { notice?: Reason | undefined; link?: Opened } = {}) {
  newRound();
  keep(next.secret);
  show({ is: "in", opened: next, ...more });
}

function leave(reason: Reason | undefined) {
  newRound();
  keep(undefined);
  show({ is: "out", reason });
}

interface Beginning {
  /** What this tab has kept. */
  own?: string | undefined;
  link?: Link | undefined;
  /** Why what it had is no session any more, and the secret of that. */
  reason?: Reason | undefined;
  lost?: string | undefined;
}

/** Finds a session, this tab's own or another tab's, and then looks at the link. */
async function begin(from: Beginning): Promise<void> {
  const isLate = newRound();
  show({ is: "opening" });
  try {
    const { current, isOwn, reason } = await findSession(from);
    const offered = await openOffered(from.link, current);
    if (isLate()) return;
    const notice =
      from.link === undefined || offered ? undefined : from.link === "damaged" ? "link-damaged" : "link-refused";
    if (current && offered !== current && !(offered && isSame(current, offered))) {
      enter(current, { notice, ...(offered && { link: offered }) });
      if (isOwn) tell("resumed");
    } else if (offered) {
      enter(offered);
      tell("signed-in");
    } else leave(notice ?? reason);
  } catch (failure) {
    if (!isLate()) show({ is: "out", reason: from.reason, failure, retry: () => void begin(from) });
  }
}

/** The session that this tab goes on with, if any. */
async function findSession({
  own,
  reason,
  lost,
}: Beginning): Promise<{ current?: Opened; isOwn: boolean; reason: Reason | undefined }> {
  if (own !== undefined) {
    const current = await openIfAccepted(own);
    if (current) return { current, isOwn: true, reason };
    [lost, reason] = [own, refusedFor(own)];
  }
  for (const secret of await askTabs()) {
    const current = secret === lost ? undefined : await openIfAccepted(secret);
    if (current) return { current, isOwn: false, reason };
  }
  return { isOwn: false, reason };
}

/** What a link opens, if anything. */
async function openOffered(link: Link | undefined, current: Opened | undefined): Promise<Opened | undefined> {
  if (link === undefined || link === "damaged") return undefined;
  return link.token === current?.secret ? current : openIfAccepted(link.token);
}

/** Starts the session of this tab. To be called once, before anything is drawn. */
export function startSession(): void {
  const link = takeLink();
  join({
    secret: () => (state.is === "in" ? state.opened.secret : undefined),
    isSignedOut: () => state.is === "out" && (state.reason === "signed-out" || state.reason === "link-left"),
    onSession: () => {
      if (state.is === "out") void begin({ own: kept(), reason: state.reason });
    },
    onSignedOut: () => {
      // Whoever is out for another reason reads that one.
      if (state.is !== "out" || state.failure !== undefined) leaveForGood();
    },
  });
  onLink((next) => void openLink(next));
  void begin({ own: kept(), link });
}

/** A link that is opened in this very page. What is drawn stays until somebody decides. */
async function openLink(link: Link): Promise<void> {
  if (state.is !== "in") return begin({ own: kept(), link });
  const { opened: current } = state;
  const isLate = newRound();
  let notice: Reason = link === "damaged" ? "link-damaged" : "link-refused";
  const offered = await openOffered(link, current).catch(() => {
    notice = "link-untried";
    return undefined;
  });
  if (isLate() || offered === current) return;
  if (offered === undefined) show({ is: "in", opened: current, notice });
  else if (isSame(current, offered)) enter(offered);
  else show({ is: "in", opened: current, link: offered });
}

/**
 * Signs in with a key.
 * @throws what the service has against it
 */
export async function signIn(secret: string): Promise<void> {
  const isLate = newRound();
  const next = await open(secret);
  if (isLate()) return;
  enter(next);
  tell("signed-in");
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
  const isLate = newRound();
  const other = secret ?? keptOther();
  const next = other === undefined ? undefined : await (secret ? open(secret) : openIfAccepted(other));
  if (isLate()) return true;
  const { account, environment } = next?.who ?? {};
  const isOfAccount = account === current.who.account && environment !== current.who.environment;
  if (next === undefined || !isOfAccount) {
    if (secret && account !== undefined) throw new OtherAccountError(account);
    keepOther(undefined);
    return false;
  }
  keepOther(current.secret);
  // What was typed belongs to the other environment.
  memory = new Map();
  enter(next);
  return true;
}

function leaveForGood() {
  memory = new Map();
  keepOther(undefined);
  leave(isToken(kept()) ? "link-left" : "signed-out");
}

/** Signs out, in all tabs. */
export function signOut(): void {
  leaveForGood();
  tell("signed-out");
}

/** A session's secret opens nothing any more. Another tab may have a newer one. */
export function lose(lost: Opened): void {
  if (state.is !== "in" || state.opened !== lost) return;
  keep(undefined);
  void begin({ lost: lost.secret, reason: refusedFor(lost.secret) });
}

/** Decides about the link: opens it in this tab, or keeps the session. */
export function decide(isOpened: boolean): void {
  if (state.is !== "in" || !state.link) return;
  if (!isOpened) {
    show({ is: "in", opened: state.opened });
    return;
  }
  memory = new Map();
  enter(state.link);
}

/** Lets go of a notice that has been read. */
export function dismiss(): void {
  if (state.is === "in") show({ is: "in", opened: state.opened });
}
