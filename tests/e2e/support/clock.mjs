// Time that passes only when a test says so. (`mock.timers` of node:test forgets other timers when one that is over is
// cleared, as programs do.)

export class Clock {
  /** Milliseconds that have passed. */
  passed = 0;
  #timers = new Map();
  #last = 0;
  #kept = { setTimeout: globalThis.setTimeout, clearTimeout: globalThis.clearTimeout, now: Date.now };

  /** Takes the place of the platform's clock, from `start` on. */
  constructor(start) {
    globalThis.setTimeout = (then, milliseconds = 0, ...given) => {
      this.#last += 1;
      // Immediate work runs after the current work.
      this.#timers.set(this.#last, { at: this.passed + Math.max(1, milliseconds), then: () => then(...given) });
      return this.#last;
    };
    globalThis.clearTimeout = (timer) => {
      if (!this.#timers.delete(timer)) this.#kept.clearTimeout(timer);
    };
    Date.now = () => start + this.passed;
  }

  /** Number of timers that wait. */
  get waiting() {
    return this.#timers.size;
  }

  /** Lets time pass. */
  pass(milliseconds) {
    this.passed += milliseconds;
    const due = [...this.#timers].filter(([, { at }]) => at <= this.passed).sort(([, a], [, b]) => a.at - b.at);
    for (const [timer, { then }] of due) if (this.#timers.delete(timer)) then();
  }

  /** Gives the platform's clock back. */
  restore() {
    Object.assign(globalThis, { setTimeout: this.#kept.setTimeout, clearTimeout: this.#kept.clearTimeout });
    Date.now = this.#kept.now;
  }
}
