// What the window asks the service for.
import {
  AuthenticationError,
  ConnectionError,
  ConnectorVault,
  RateLimitError,
  ServerError,
  TimeoutError,
  VaultError,
  init,
  type ConnectAttempt,
  type Connection,
  type Connector,
  type ConnectorFilters,
} from "connector-vault/slim";
import wasm from "connector-vault/connector-vault.wasm?url";

/** How long the service may hold an answer about an attempt, in seconds. */
const WAIT_SECONDS = 25;
/** The pause after a question that got no answer, in milliseconds. */
const PAUSE_MS = 2_000;
const ROWS = 30;

// The module loads while the page is drawn; a failure is told to whoever opens a vault.
init(wasm).catch(() => {});

/** A client for a token. Platforms take their time to answer, and the service waits for them. */
export async function openVault(token: string): Promise<ConnectorVault> {
  await init(wasm);
  return new ConnectorVault({ baseUrl: location.origin, secret: token, timeoutMs: 60_000 });
}

export const isExpired = (error: unknown) => error instanceof AuthenticationError;

export interface Found {
  rows: Connector[];
  total: number;
}

/** The first platforms that match a text: those made for this window, or all if there are none. */
export async function findPlatforms(
  vault: ConnectorVault,
  q: string,
  all: boolean,
  signal?: AbortSignal,
): Promise<Found> {
  const filters: ConnectorFilters = { limit: ROWS, ...(q && { q }), ...(!all && { authkit: true }) };
  const { rows, total } = await vault.connectors.list(filters, { signal });
  return { rows, total };
}

/** The connections that have stopped working. */
export async function findFailed(vault: ConnectorVault): Promise<Connection[]> {
  const pages = [true, false].map((active) => vault.connections.list({ state: "failed", active, limit: ROWS }));
  return (await Promise.all(pages)).flatMap(({ rows }) => rows);
}

/** Waits until an attempt is over. `hurry` ends a wait early, to ask at once. */
export async function outcomeOf(
  vault: ConnectorVault,
  id: string,
  signal: AbortSignal,
  hurry: EventTarget,
): Promise<ConnectAttempt> {
  for (let wait: number | undefined = WAIT_SECONDS; ; ) {
    const asking = new AbortController();
    const askedAt = Date.now();
    const stop = () => asking.abort();
    signal.addEventListener("abort", stop);
    hurry.addEventListener("hurry", stop);
    try {
      const attempt = await vault.connectAttempts.get(id, { ...(wait && { wait }) }, { signal: asking.signal });
      if (attempt.status !== "pending") return attempt;
      // A service that holds no answers is not to be asked without end.
      if (wait !== undefined && Date.now() - askedAt < PAUSE_MS) await pause(signal);
      wait = WAIT_SECONDS;
    } catch (error) {
      signal.throwIfAborted();
      if (asking.signal.aborted) wait = undefined;
      else if (isPassing(error)) await pause(signal);
      else throw error;
    } finally {
      signal.removeEventListener("abort", stop);
      hurry.removeEventListener("hurry", stop);
    }
  }
}

const isPassing = (error: unknown) =>
  error instanceof VaultError &&
  [ConnectionError, TimeoutError, RateLimitError, ServerError].some((kind) => error instanceof kind);

const pause = (signal: AbortSignal) =>
  new Promise<void>((resolve, reject) => {
    const timer = setTimeout(resolve, PAUSE_MS);
    signal.addEventListener("abort", () => (clearTimeout(timer), reject(signal.reason)), { once: true });
  });
