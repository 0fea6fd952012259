// API client of the connect window. It uses only the types of the npm package, so that users need not wait for the
// package's WebAssembly module.
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
import { language } from "./texts";

/** Long polling: how long the service may delay its response until the attempt ends. */
const WAIT_SECONDS = 25;
/** The timeout of a request. Long, because the service waits for responses of platforms. */
const TIMEOUT_MS = 60_000;
/** Minimum interval between two requests for an attempt. */
const RETRY_PAUSE_MS = 2_000;
/** Delays before the retries of a read. */
const RETRY_MS = [500, 1_000];
const PAGE_SIZE = 30;

/** The members of a problem (RFC 9457) that the window uses. */
interface Problem {
  code: string;
  detail: string;
  errors?: readonly Fault[];
  requestId?: string;
  /** With `connection_exists`: the existing connection. */
  connectionId?: string;
}

/** An error response, or a request without a response. */
export class ApiError extends Error {
  /** Undefined if there was no valid response. */
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

/** Whether an error is temporary, so that a retry may succeed. */
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

/** Exchanges the code of a link for a token. Fails with 401 if the code was already used or has expired. */
export const exchange = async (code: string): Promise<string> =>
  (await request<{ token: string }>("/connect/token", { method: "POST", headers: { "x-connect-code": code } })).token;

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
   * Searches connectable platforms. Without a query, returns only those that have an OAuth client or that the operator
   * enabled, if there are any: a whole catalog is too long to scroll through.
   */
  async findPlatforms(q: string, isChosen: boolean, signal: AbortSignal): Promise<ConnectorPage> {
    const search = (filters: Record<string, string>) => {
      const query = new URLSearchParams({ limit: `${PAGE_SIZE}`, connectable: "true", ...filters });
      return this.#read<ConnectorPage>(`/v1/available-connectors?${query}`, signal);
    };
    if (q !== "") return search({ q });
    if (isChosen) return search({});
    const [wholeCatalog, ...chosen] = await Promise.all([
      search({}),
      search({ hasOauthClient: "true" }),
      search({ authkit: "true" }),
    ]);
    const byPlatform = new Map(chosen.flatMap(({ rows }) => rows).map((row) => [row.platform, row]));
    if (byPlatform.size === 0) return wholeCatalog;
    const rows = [...byPlatform.values()].sort((a, b) => a.name.localeCompare(b.name, language));
    return { rows, total: wholeCatalog.total };
  }

  async hasClient(platform: string): Promise<boolean> {
    const query = new URLSearchParams({ platform, hasOauthClient: "true", limit: "1" });
    return (await this.#read<ConnectorPage>(`/v1/available-connectors?${query}`)).total > 0;
  }

  /** Returns the platforms to which the identity has working connections. `platform` limits the search to one. */
  async findConnectedPlatforms(platform?: string): Promise<ReadonlySet<string>> {
    const query = new URLSearchParams({ limit: "100", ...(platform !== undefined && { platform }) });
    const { rows } = await this.#read<{ rows: Connection[] }>(`/v1/vault/connections?${query}`);
    return new Set(rows.filter(({ state }) => state !== "failed").map((row) => row.platform));
  }

  /** Returns failed connections, each with its connector if it can be loaded. */
  async findFailedConnections(): Promise<FailedConnection[]> {
    const pages = [true, false].map((active) =>
      this.#read<{ rows: ConnectionWithAccount[] }>(
        `/v1/vault/connections?state=failed&active=${active}&include=account&limit=${PAGE_SIZE}`,
      ),
    );
    const failedConnections = (await Promise.all(pages)).flatMap(({ rows }) => rows);
    const platforms = [...new Set(failedConnections.map(({ platform }) => platform))];
    const connectors = await Promise.all(platforms.map((platform) => this.#findConnector(platform)));
    const byPlatform = new Map(platforms.map((platform, index) => [platform, connectors[index]]));
    return failedConnections.map((connection) => ({ connection, connector: byPlatform.get(connection.platform) }));
  }

  /** Returns undefined on failure: reconnecting also works without the platform's name and logo. */
  async #findConnector(platform: string): Promise<Connector | undefined> {
    const query = new URLSearchParams({ platform, limit: "1" });
    const page = await this.#read<ConnectorPage>(`/v1/available-connectors?${query}`).catch(() => undefined);
    return page?.rows[0];
  }

  /** Returns the connection, or an attempt that continues at the platform. */
  start = (attempt: NewConnectAttempt) =>
    this.#send<Connection | PendingAttempt>("/v1/vault/connect", { body: attempt });

  attempt = (id: string) => this.#read<ConnectAttempt>(`/v1/vault/connect/${id}`);

  /** Waits until an attempt ends. An event on `wake` checks the attempt immediately. */
  async waitForOutcome(id: string, signal: AbortSignal, wake: EventTarget): Promise<ConnectAttempt> {
    for (let shouldWait = true; ; ) {
      const controller = new AbortController();
      const startedAt = Date.now();
      const abort = () => controller.abort();
      signal.addEventListener("abort", abort);
      wake.addEventListener("hurry", abort);
      try {
        const address = `/v1/vault/connect/${id}${shouldWait ? `?wait=${WAIT_SECONDS}` : ""}`;
        const attempt = await this.#send<ConnectAttempt>(address, { signal: controller.signal });
        if (attempt.status !== "pending") return attempt;
        // Avoid a tight loop if the service responds immediately.
        if (shouldWait && Date.now() - startedAt < RETRY_PAUSE_MS) await pause(RETRY_PAUSE_MS, signal);
        shouldWait = true;
      } catch (error) {
        signal.throwIfAborted();
        if (controller.signal.aborted) shouldWait = false;
        else if (isTransient(error)) await pause(RETRY_PAUSE_MS, signal);
        else throw error;
      } finally {
        signal.removeEventListener("abort", abort);
        wake.removeEventListener("hurry", abort);
      }
    }
  }

  /** Sends a GET request, with retries. */
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

async function request<Body>(address: string, init: RequestInit, signal?: AbortSignal): Promise<Body> {
  const signals = [AbortSignal.timeout(TIMEOUT_MS), ...(signal ? [signal] : [])];
  let response: Response;
  let text: string;
  try {
    // Redirects are errors: the request contains a secret, which must not reach another host.
    response = await fetch(address, { ...init, signal: AbortSignal.any(signals), redirect: "error" });
    text = await response.text();
  } catch {
    throw new ApiError({ code: "no_response", detail: "The service could not be reached." });
  }
  const json = parseObject(text);
  if (response.ok && json) return json as Body;
  const { code = "unexpected_response", detail = "The response is not from this service.", ...more } = json ?? {};
  throw new ApiError({ code, detail, ...more }, response.status);
}

/** Parses a body. Returns undefined if it is not a JSON object, such as the error page of a proxy. */
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
