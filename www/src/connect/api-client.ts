// What the window asks the service for. The few requests are written here, so that nobody waits for the WebAssembly module
// of the npm package: its types are all that the window takes from it.
import type {
  ConnectAttempt,
  Connection,
  ConnectionWithAccount,
  Connector,
  ConnectorDetail,
  Fault,
  NewConnectAttempt,
  PendingAttempt,
  Whoami,
} from "connector-vault/slim";

/** How long the service may hold an answer about an attempt, in seconds. */
const WAIT_SECONDS = 25;
/** Platforms take their time to answer, and the service waits for them. */
const TIMEOUT_MS = 60_000;
/** The pause after a question about an attempt that got no answer, in milliseconds. */
const RETRY_PAUSE_MS = 2_000;
/** The pauses before what could not be read is read again, in milliseconds. */
const RETRY_MS = [500, 1_000];
const PAGE_SIZE = 30;

/** The members of a problem document that the window needs. */
interface Problem {
  code: string;
  detail: string;
  errors?: readonly Fault[];
  requestId?: string;
  /** The connection that there is already. */
  connectionId?: string;
}

/** A request that the service refused, or that got no answer of the service. */
export class ApiError extends Error {
  /** The HTTP status; undefined without an answer of the service. */
  readonly status: number | undefined;
  readonly code: string;
  readonly errors: readonly Fault[];
  readonly requestId: string | undefined;
  readonly connectionId: string | undefined;

  constructor({ code, detail, errors = [], requestId, connectionId }: Problem, status?: number) {
    super(detail);
    this.status = status;
    this.code = code;
    this.errors = errors;
    this.requestId = requestId;
    this.connectionId = connectionId;
  }
}

export const isExpired = (error: unknown) => error instanceof ApiError && error.status === 401;

/** Whether a failure may be over soon. */
const isTransient = (error: unknown) =>
  error instanceof ApiError && (error.status === undefined || error.status === 429 || error.status >= 500);

export interface ConnectorPage {
  rows: Connector[];
  total: number;
}

export interface FailedConnection {
  connection: ConnectionWithAccount;
  connector: Connector | undefined;
}

/** Exchanges the code of a link for its token. Fails with 401 if that has happened before, or the code has expired. */
export const exchange = async (code: string): Promise<string> =>
  (await request<{ token: string }>("/connect/token", { method: "POST", headers: { "x-connect-code": code } })).token;

/** The service, for whoever holds a token. */
export class ApiClient {
  readonly #token: string;

  constructor(token: string) {
    this.#token = token;
  }

  whoami = () => this.#read<Whoami>("/v1/whoami");
  connector = (platform: string) =>
    this.#read<ConnectorDetail>(`/v1/available-connectors/${encodeURIComponent(platform)}`);
  connection = (id: string) => this.#read<Connection>(`/v1/vault/connections/${encodeURIComponent(id)}`);

  /**
   * The first platforms that accounts can be connected to and that match a text. Without one, those for which the app has an
   * OAuth client and those that its operator has enabled, if there are any: nobody looks through a whole catalog.
   */
  async findPlatforms(q: string, isChosen: boolean, signal: AbortSignal): Promise<ConnectorPage> {
    const list = (more: Record<string, string>) => {
      const query = new URLSearchParams({ limit: `${PAGE_SIZE}`, connectable: "true", ...more });
      return this.#read<ConnectorPage>(`/v1/available-connectors?${query}`, signal);
    };
    if (q !== "") return list({ q });
    if (isChosen) return list({});
    const [all, ...first] = await Promise.all([list({}), list({ hasOauthClient: "true" }), list({ authkit: "true" })]);
    const byPlatform = new Map(first.flatMap(({ rows }) => rows).map((row) => [row.platform, row]));
    if (byPlatform.size === 0) return all;
    const rows = [...byPlatform.values()].sort((one, other) => one.name.localeCompare(other.name, "en"));
    return { rows, total: all.total };
  }

  /** Whether the app has an OAuth client for a platform. */
  async hasClient(platform: string): Promise<boolean> {
    const query = new URLSearchParams({ platform, hasOauthClient: "true", limit: "1" });
    return (await this.#read<ConnectorPage>(`/v1/available-connectors?${query}`)).total > 0;
  }

  /** The connections that have stopped working, each with its connector if that can be had. */
  async findFailed(): Promise<FailedConnection[]> {
    const pages = [true, false].map((active) =>
      this.#read<{ rows: ConnectionWithAccount[] }>(
        `/v1/vault/connections?state=failed&active=${active}&include=account&limit=${PAGE_SIZE}`,
      ),
    );
    const failed = (await Promise.all(pages)).flatMap(({ rows }) => rows);
    const platforms = [...new Set(failed.map(({ platform }) => platform))];
    const connectors = await Promise.all(platforms.map((platform) => this.#findConnector(platform)));
    const byPlatform = new Map(platforms.map((platform, at) => [platform, connectors[at]]));
    return failed.map((connection) => ({ connection, connector: byPlatform.get(connection.platform) }));
  }

  /** A connector's name and logo. A user who wants to reconnect can do without. */
  async #findConnector(platform: string): Promise<Connector | undefined> {
    const query = new URLSearchParams({ platform, limit: "1" });
    const found = await this.#read<ConnectorPage>(`/v1/available-connectors?${query}`).catch(() => undefined);
    return found?.rows[0];
  }

  /** Connects an account, or begins an attempt that goes on at the platform. */
  start = (attempt: NewConnectAttempt) =>
    this.#send<Connection | PendingAttempt>("/v1/vault/connect", { body: attempt });

  attempt = (id: string) => this.#read<ConnectAttempt>(`/v1/vault/connect/${id}`);

  /** Waits until an attempt is over. `hurry` ends a wait early, to ask at once. */
  async outcomeOf(id: string, signal: AbortSignal, wake: EventTarget): Promise<ConnectAttempt> {
    for (let wait = true; ; ) {
      const controller = new AbortController();
      const startedAt = Date.now();
      const abort = () => controller.abort();
      signal.addEventListener("abort", abort);
      wake.addEventListener("hurry", abort);
      try {
        const address = `/v1/vault/connect/${id}${wait ? `?wait=${WAIT_SECONDS}` : ""}`;
        const attempt = await this.#send<ConnectAttempt>(address, { signal: controller.signal });
        if (attempt.status !== "pending") return attempt;
        // A service that holds no answers is not to be asked without end.
        if (wait && Date.now() - startedAt < RETRY_PAUSE_MS) await pause(RETRY_PAUSE_MS, signal);
        wait = true;
      } catch (error) {
        signal.throwIfAborted();
        if (controller.signal.aborted) wait = false;
        else if (isTransient(error)) await pause(RETRY_PAUSE_MS, signal);
        else throw error;
      } finally {
        signal.removeEventListener("abort", abort);
        wake.removeEventListener("hurry", abort);
      }
    }
  }

  /** Reads something, which can be tried again. */
  async #read<Body>(address: string, signal?: AbortSignal): Promise<Body> {
    for (const ms of RETRY_MS) {
      try {
        return await this.#send<Body>(address, { signal });
      } catch (error) {
        signal?.throwIfAborted();
        if (!isTransient(error)) throw error;
        await pause(ms, signal);
      }
    }
    return this.#send<Body>(address, { signal });
  }

  #send<Body>(address: string, { body, signal }: { body?: unknown; signal?: AbortSignal | undefined }) {
    const headers = new Headers({ "x-service-secret": this.#token });
    if (body === undefined) return request<Body>(address, { headers }, signal);
    headers.set("content-type", "application/json");
    return request<Body>(address, { headers, method: "POST", body: JSON.stringify(body) }, signal);
  }
}

/** Sends a request once. */
async function request<Body>(address: string, init: RequestInit, signal?: AbortSignal): Promise<Body> {
  const signals = [AbortSignal.timeout(TIMEOUT_MS), ...(signal ? [signal] : [])];
  let response: Response;
  let text: string;
  try {
    // Its secrets are for this service only, so it follows no redirect.
    response = await fetch(address, { ...init, signal: AbortSignal.any(signals), redirect: "error" });
    text = await response.text();
  } catch {
    throw new ApiError({ code: "no_response", detail: "The service could not be reached." });
  }
  const json = parseObject(text);
  if (response.ok && json) return json as Body;
  const { code = "unexpected_response", detail = "The answer is not one of this service.", ...more } = json ?? {};
  throw new ApiError({ code, detail, ...more }, response.status);
}

/** The object that an answer holds; undefined if it holds none, as a page of a proxy. */
function parseObject(text: string): Partial<Problem> | undefined {
  try {
    return JSON.parse(text) ?? undefined;
  } catch {
    return undefined;
  }
}

const pause = (ms: number, signal?: AbortSignal) =>
  new Promise<void>((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener("abort", () => (clearTimeout(timer), reject(signal.reason)), { once: true });
  });
