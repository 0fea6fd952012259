// A simulated clock. `mock.timers` of node:test is not used, because it loses other timers when a finished one is cleared.

export class Clock {
  elapsedMs = 0;
  #timers = new Map();
  #last = 0;
  #original = { setTimeout: globalThis.setTimeout, clearTimeout: globalThis.clearTimeout, now: Date.now };

  /** Replaces the platform's clock, starting at `start`. */
  constructor(start) {
    globalThis.setTimeout = (then, milliseconds = 0, ...args) => {
      this.#last += 1;
      // Timers without a delay run after the current task.
      this.#timers.set(this.#last, { at: this.elapsedMs + Math.max(1, milliseconds), then: () => then(...args) });
      return this.#last;
    };
    globalThis.clearTimeout = (timer) => {
      if (!this.#timers.delete(timer)) this.#original.clearTimeout(timer);
    };
    Date.now = () => start + this.elapsedMs;
  }

  get pendingTimers() {
    return this.#timers.size;
  }

  advance(milliseconds) {
    this.elapsedMs += milliseconds;
    const due = [...this.#timers].filter(([, { at }]) => at <= this.elapsedMs).sort(([, a], [, b]) => a.at - b.at);
    for (const [timer, { then }] of due) if (this.#timers.delete(timer)) then();
  }

  restore() {
    Object.assign(globalThis, { setTimeout: this.#original.setTimeout, clearTimeout: this.#original.clearTimeout });
    Date.now = this.#original.now;
  }
}
