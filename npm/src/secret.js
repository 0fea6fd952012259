// What goes into the header of the secret: one text for good, or the latest one that a function supplied.
import { VaultError } from "./errors.js";

// What is supplied is renewed when this part of its life is left, or this time if that is shorter.
const LAST_PART = 0.1;
const LAST_MS = 30_000;
// Whose life seems shorter when it comes is not renewed by the clock: the clock is wrong, or it comes late. Renewed again and
// again, nothing would be won; the service says when it has expired.
const LEAST_LIFE_MS = 30_000;

/** A secret that stays. */
export class Fixed {
  constructor(text) {
    this.held = { text };
  }

  /** There is no other one. */
  drop() {
    return false;
  }
}

/** A secret that a function supplies: asked when one is needed, by all who need it at once. */
export class Supplied {
  #supply;
  #check;
  #patienceMs;
  #held;
  #pending;

  /**
   * @param {() => unknown} supply gives a text, or an object with a `token` and perhaps its `expiresAt`
   * @param {(text: string) => void} check throws what is wrong with a text
   * @param {number} patienceMs how long others wait for one that was asked for before they ask anew
   */
  constructor(supply, check, patienceMs) {
    this.#supply = supply;
    this.#check = check;
    this.#patienceMs = patienceMs;
  }

  /** What is good to be sent: { text }; undefined when there is nothing, or not for long. */
  get held() {
    return Date.now() < this.#held?.until ? this.#held : undefined;
  }

  /** Asks for another one, unless somebody has: whoever stops waiting for it, it comes for the others. */
  renew() {
    const since = Date.now();
    // One that never comes must not be waited for for ever.
    if (!this.#pending || since - this.#pending.since >= this.#patienceMs) {
      const pending = { since };
      const isCurrent = () => this.#pending === pending;
      pending.held = this.#ask()
        .then((held) => {
          if (isCurrent()) this.#held = held;
          return held;
        })
        .finally(() => {
          // A failure is not remembered: whoever calls next may have better luck.
          if (isCurrent()) this.#pending = undefined;
        });
      this.#pending = pending;
    }
    return this.#pending.held;
  }

  /** Forgets what the service refused, unless it has been renewed meanwhile. Another one can be had in any case. */
  drop(refused) {
    if (this.#held === refused) this.#held = undefined;
    return true;
  }

  async #ask() {
    let text;
    let life;
    try {
      const supply = this.#supply;
      const given = await supply();
      text = typeof given === "string" ? given : given?.token;
      life = new Date(given?.expiresAt).getTime() - Date.now();
    } catch (cause) {
      throw unavailable("failed: its own error is the `cause`.", cause);
    }
    if (typeof text !== "string") throw unavailable("gave neither a text nor an object with a `token`.");
    this.#check(text);
    const until = life >= LEAST_LIFE_MS ? Date.now() + life - Math.min(life * LAST_PART, LAST_MS) : Infinity;
    return { text, until };
  }
}

function unavailable(what, cause) {
  return new VaultError(`The function in \`secret\` ${what}`, { code: "secret_unavailable", cause });
}
