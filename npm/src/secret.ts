// The content of the secret's header: one text for good, or the latest one that a function supplied.
import { VaultError } from "./errors.js";

/** The header that contains the secret. @internal */
export const SECRET_HEADER = "x-service-secret";

/** A short-lived token, as the function in `secret` may return it: what `sessions.create` returned to your server. */
export interface Token {
  /** `st_test_…` or `st_live_…` */
  token: string;
  /** When it expires (RFC 3339). If given, the token is renewed shortly before; else when the service rejects it. */
  expiresAt?: string | null | undefined;
}

/** A secret that can be sent. @internal */
export interface Held {
  readonly text: string;
}

/** Where secrets come from. @internal */
export interface Secret {
  /** The secret to send; undefined if there is none, or not for long. */
  readonly held: Held | undefined;
  /** Asks for another one. */
  renew(): Promise<Held>;
  /** Forgets a secret that the service rejected. Returns whether there can be another one. */
  drop(rejected: Held): boolean;
}

/** A secret that never changes. @internal */
export function fixed(text: string): Secret {
  const held = { text };
  return { held, renew: async () => held, drop: () => false };
}

// A secret is renewed when this part of its lifetime is left, or this time if it is shorter.
const LAST_PART = 0.1;
const LAST_MS = 30_000;
// A secret with a shorter lifetime is not renewed by the clock: either the clock is wrong, or the secret came late. Renewing
// it again and again would not help; the service rejects it when it has expired.
const LEAST_LIFE_MS = 30_000;

/** Secrets that a function supplies, called once for all who need one. @internal */
export class Supplied implements Secret {
  #supply: () => unknown;
  #check: (text: string) => void;
  #patienceMs: number;
  #held: (Held & { until: number }) | undefined;
  #pending: { since: number; coming: Promise<Held> } | undefined;

  /**
   * @param supply returns a text, or an object with a `token` and possibly its `expiresAt`
   * @param check throws if a text can't be a secret
   * @param patienceMs how long to wait for the function before it is called anew
   */
  constructor(supply: () => unknown, check: (text: string) => void, patienceMs: number) {
    this.#supply = supply;
    this.#check = check;
    this.#patienceMs = patienceMs;
  }

  get held(): Held | undefined {
    return this.#held && Date.now() < this.#held.until ? this.#held : undefined;
  }

  /** Calls the function, unless a call is pending. If one of those who wait gives up, the others still get the secret. */
  renew(): Promise<Held> {
    const since = Date.now();
    // A function that never returns must not be waited for for ever.
    if (this.#pending && since - this.#pending.since < this.#patienceMs) return this.#pending.coming;
    const coming: Promise<Held> = this.#ask()
      .then((held) => {
        if (isCurrent()) this.#held = held;
        return held;
      })
      .finally(() => {
        // A failure is not remembered: the next call tries again.
        if (isCurrent()) this.#pending = undefined;
      });
    const isCurrent = () => this.#pending?.coming === coming;
    this.#pending = { since, coming };
    return coming;
  }

  /** Forgets a secret, unless it has been renewed meanwhile. */
  drop(rejected: Held): boolean {
    if (this.#held === rejected) this.#held = undefined;
    return true;
  }

  async #ask() {
    let text: unknown;
    let life: number;
    try {
      const supply = this.#supply;
      const given = await supply();
      const { token, expiresAt } = (given ?? {}) as Partial<Token>;
      text = typeof given === "string" ? given : token;
      life = new Date(expiresAt ?? Number.NaN).getTime() - Date.now();
    } catch (cause) {
      throw unavailable("failed: its own error is the `cause`.", cause);
    }
    if (typeof text !== "string") throw unavailable("gave neither a text nor an object with a `token`.");
    this.#check(text);
    const until = life >= LEAST_LIFE_MS ? Date.now() + life - Math.min(life * LAST_PART, LAST_MS) : Infinity;
    return { text, until };
  }
}

function unavailable(what: string, cause?: unknown): VaultError {
  return new VaultError(`The function in \`secret\` ${what}`, { code: "secret_unavailable", cause });
}
