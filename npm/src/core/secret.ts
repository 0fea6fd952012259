// Supplies the secret of each request: a static one, or the latest one that a function returned.
import { VaultError } from "./errors.js";

/** @internal */
export const SECRET_HEADER = "x-service-secret";

/** A short-lived token as the function in `secret` can return it, such as the result of `sessions.create`. */
export interface Token {
  /** `st_test_…` or `st_live_…` */
  token: string;
  /** When it expires (RFC 3339). If given, the token is refreshed shortly before; otherwise when the service rejects it. */
  expiresAt?: string | null | undefined;
}

/** A secret to send. Compared by identity: two objects with the same value are different secrets. @internal */
export interface ActiveSecret {
  readonly value: string;
}

/** @internal */
export interface SecretSource {
  /** The secret to send; undefined if there is none, or if it expires soon. */
  readonly current: ActiveSecret | undefined;
  /** Requests a new secret. */
  refresh(): Promise<ActiveSecret>;
  /** Discards a secret that the service rejected. Returns whether `refresh` can supply another one. */
  invalidate(rejected: ActiveSecret): boolean;
}

/** A secret that never changes. @internal */
export function staticSecret(value: string): SecretSource {
  const current = { value };
  return { current, refresh: async () => current, invalidate: () => false };
}

// A secret is refreshed when this fraction of its lifetime is left, or this time, whichever is shorter.
const REFRESH_FRACTION = 0.1;
const REFRESH_MARGIN_MS = 30_000;
// A secret with a shorter lifetime is refreshed only after the service rejects it: either the clock is wrong, or the secret
// was delayed, and refreshing it repeatedly would not help.
const MIN_LIFETIME_MS = 30_000;

/** Secrets that a function supplies. Concurrent calls share one call of the function. @internal */
export class SuppliedSecret implements SecretSource {
  #supply: () => unknown;
  #check: (value: string) => void;
  #timeoutMs: number;
  #current: (ActiveSecret & { refreshAt: number }) | undefined;
  #pending: { since: number; promise: Promise<ActiveSecret> } | undefined;

  /**
   * @param supply returns a string, or an object with a `token` and possibly its `expiresAt`
   * @param check throws if a value can't be a secret
   * @param timeoutMs how long to wait for a result before the function is called again
   */
  constructor(supply: () => unknown, check: (value: string) => void, timeoutMs: number) {
    this.#supply = supply;
    this.#check = check;
    this.#timeoutMs = timeoutMs;
  }

  get current(): ActiveSecret | undefined {
    return this.#current && Date.now() < this.#current.refreshAt ? this.#current : undefined;
  }

  /** Calls the function, unless a call is pending. A caller that stops waiting does not affect the others. */
  refresh(): Promise<ActiveSecret> {
    const since = Date.now();
    if (this.#pending && since - this.#pending.since < this.#timeoutMs) return this.#pending.promise;
    const promise: Promise<ActiveSecret> = this.#callSupply()
      .then((secret) => {
        if (isLatest()) this.#current = secret;
        return secret;
      })
      .finally(() => {
        // Failures are not cached: the next call tries again.
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
      // Called as a function, so that `this` is not this object.
      const supply = this.#supply;
      const supplied = await supply();
      const { token, expiresAt } = (supplied ?? {}) as Partial<Token>;
      value = typeof supplied === "string" ? supplied : token;
      lifetimeMs = new Date(expiresAt ?? Number.NaN).getTime() - Date.now();
    } catch (cause) {
      throw secretUnavailable("failed: its own error is the `cause`.", cause);
    }
    if (typeof value !== "string") throw secretUnavailable("returned neither a string nor an object with a `token`.");
    this.#check(value);
    const marginMs = Math.min(lifetimeMs * REFRESH_FRACTION, REFRESH_MARGIN_MS);
    return { value, refreshAt: lifetimeMs >= MIN_LIFETIME_MS ? Date.now() + lifetimeMs - marginMs : Infinity };
  }
}

function secretUnavailable(predicate: string, cause?: unknown): VaultError {
  return new VaultError(`The function in \`secret\` ${predicate}`, { code: "secret_unavailable", cause });
}
