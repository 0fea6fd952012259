// A simulated clock. (`mock.timers` of node:test forgets other timers when a finished one is cleared, which is common.)

export class Clock {
  /** The elapsed milliseconds. */
  passed = 0;
  #timers = new Map();
  #last = 0;
  #kept = { setTimeout: globalThis.setTimeout, clearTimeout: globalThis.clearTimeout, now: Date.now };

  /** Replaces the platform's clock, starting at `start`. */
  constructor(start) {
    globalThis.setTimeout = (then, milliseconds = 0, ...args) => {
      this.#last += 1;
      // Timers without a delay run after the current task.
      this.#timers.set(this.#last, { at: this.passed + Math.max(1, milliseconds), then: () => then(...args) });
      return this.#last;
    };
    globalThis.clearTimeout = (timer) => {
      if (!this.#timers.delete(timer)) this.#kept.clearTimeout(timer);
    };
    Date.now = () => start + this.passed;
  }

  /** The number of pending timers. */
  get waiting() {
    return this.#timers.size;
  }

  /** Advances the time. */
  pass(milliseconds) {
    this.passed += milliseconds;
    const due = [...this.#timers].filter(([, { at }]) => at <= this.passed).sort(([, a], [, b]) => a.at - b.at);
    for (const [timer, { then }] of due) if (this.#timers.delete(timer)) then();
  }

  /** Restores the platform's clock. */
  restore() {
    Object.assign(globalThis, { setTimeout: this.#kept.setTimeout, clearTimeout: this.#kept.clearTimeout });
    Date.now = this.#kept.now;
  }
}
