// Supplies the secret of each request: a static secret, or the latest one from the caller's function.
import { VaultError } from "./errors.js";

/** @internal */
export const SECRET_HEADER = "x-service-secret";

/** A short-lived token, such as the result of `sessions.create`. The function in `secret` can return it. */
export interface Token {
  /** `st_test_…` or `st_live_…` */
  token: string;
  /**
   * When the token expires (RFC 3339). It is replaced shortly before; without `expiresAt`, when the service rejects it.
   */
  expiresAt?: string | null | undefined;
}

/** A secret to send. Compared by object identity, so a supplied secret is new even if its value is not. @internal */
export interface ActiveSecret {
  readonly value: string;
}

/** @internal */
export interface SecretSource {
  /** Undefined if there is no secret yet, or if it expires soon. */
  readonly current: ActiveSecret | undefined;
  refresh(): Promise<ActiveSecret>;
  /** Discards a secret that the service rejected. Returns whether `refresh` can supply another one. */
  invalidate(rejected: ActiveSecret): boolean;
}

/** Supplies a secret that never changes. @internal */
export function staticSecret(value: string): SecretSource {
  const current = { value };
  return { current, refresh: async () => current, invalidate: () => false };
}

// A secret is refreshed when a tenth of its lifetime is left, but at most 30 seconds before it expires.
const REFRESH_FRACTION = 0.1;
const REFRESH_MARGIN_MS = 30_000;
// A secret with less remaining lifetime is refreshed only after the service rejects it. Its lifetime looks short
// because the clock is wrong or the secret arrived late, and refreshing it before every request would not help.
const MIN_LIFETIME_MS = 30_000;

/** Supplies secrets from the caller's function. Concurrent requests share one call of the function. @internal */
export class CallbackSecret implements SecretSource {
  #supply: () => unknown;
  #check: (value: string) => void;
  #timeoutMs: number;
  #current: (ActiveSecret & { refreshAt: number }) | undefined;
  #pending: { since: number; promise: Promise<ActiveSecret> } | undefined;

  /**
   * @param supply returns a string, or an object with a `token` and possibly its `expiresAt`
   * @param check throws if a value can't be a secret
   * @param timeoutMs after this time, a pending call no longer prevents another one
   */
  constructor(supply: () => unknown, check: (value: string) => void, timeoutMs: number) {
    this.#supply = supply;
    this.#check = check;
    this.#timeoutMs = timeoutMs;
  }

  get current(): ActiveSecret | undefined {
    return this.#current && Date.now() < this.#current.refreshAt ? this.#current : undefined;
  }

  /** Calls the function, unless a call is pending. If one waiting caller aborts, the others still get the result. */
  refresh(): Promise<ActiveSecret> {
    const since = Date.now();
    if (this.#pending && since - this.#pending.since < this.#timeoutMs) return this.#pending.promise;
    const promise: Promise<ActiveSecret> = this.#callSupply()
      .then((secret) => {
        if (isLatest()) this.#current = secret;
        return secret;
      })
      .finally(() => {
        // Failures are not cached: the next request calls the function again.
        if (isLatest()) this.#pending = undefined;
      });
    const isLatest = () => this.#pending?.promise === promise;
    this.#pending = { since, promise };
    return promise;
  }

  /** Discards a secret, unless it has already been replaced. */
  invalidate(rejected: ActiveSecret): boolean {
    if (this.#current === rejected) this.#current = undefined;
    return true;
  }

  async #callSupply() {
    let value: unknown;
    let lifetimeMs: number;
    try {
      // Not called as a method, so that `this` does not expose this object to the function.
      const supply = this.#supply;
      const supplied = await supply();
      const { token, expiresAt } = (supplied ?? {}) as Partial<Token>;
      value = typeof supplied === "string" ? supplied : token;
      lifetimeMs = new Date(expiresAt ?? Number.NaN).getTime() - Date.now();
    } catch (cause) {
      throw secretUnavailableError("failed: its own error is the `cause`.", cause);
    }
    if (typeof value !== "string")
      throw secretUnavailableError("returned neither a string nor an object with a `token`.");
    this.#check(value);
    const marginMs = Math.min(lifetimeMs * REFRESH_FRACTION, REFRESH_MARGIN_MS);
    return { value, refreshAt: lifetimeMs >= MIN_LIFETIME_MS ? Date.now() + lifetimeMs - marginMs : Infinity };
  }
}

function secretUnavailableError(predicate: string, cause?: unknown): VaultError {
  return new VaultError(`The function in \`secret\` ${predicate}`, { code: "secret_unavailable", cause });
}
