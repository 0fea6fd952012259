// Aborts a call on timeout or on the caller's signal.
import { AbortError, TimeoutError, type VaultError } from "./errors.js";

export class CallAbort {
  #controller = new AbortController();
  #callerSignal: AbortSignal | undefined;
  #timer: ReturnType<typeof setTimeout>;
  #error: VaultError | undefined;
  #reject: (error: VaultError) => void = () => {};

  constructor(callerSignal: AbortSignal | undefined, timeoutMs: number) {
    this.#callerSignal = callerSignal;
    if (callerSignal?.aborted) this.#onCallerAbort();
    if (callerSignal) addAbortListener(callerSignal, this.#onCallerAbort);
    const message = `There was no response within ${timeoutMs} ms.`;
    this.#timer = setTimeout(() => this.#abort(new TimeoutError(message, { code: "timeout" })), timeoutMs);
  }

  /** The signal for `fetch`. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  #onCallerAbort = () => {
    const cause = this.#callerSignal?.reason;
    this.#abort(new AbortError("The call was aborted by its signal.", { code: "aborted", cause }));
  };

  #abort(error: VaultError): void {
    this.#error ??= error;
    this.#reject(this.#error);
    this.#controller.abort();
  }

  /**
   * Runs an operation. Rejects when the call is aborted, even if `fetch` ignores its signal. Does not start the
   * operation if the call is already aborted.
   */
  race<T>(start: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#error) throw this.#error;
      this.#reject = reject;
      start().then(resolve, reject);
    });
  }

  sleep(milliseconds: number): Promise<void> {
    let timer: ReturnType<typeof setTimeout>;
    const startTimer = () =>
      new Promise<void>((resolve) => {
        timer = setTimeout(resolve, milliseconds);
      });
    return this.race(startTimer).finally(() => clearTimeout(timer));
  }

  close(): void {
    clearTimeout(this.#timer);
    if (this.#callerSignal) removeAbortListener(this.#callerSignal, this.#onCallerAbort);
  }
}

// `AbortSignal.any` is not used: Node before 20.3 and Chrome before 116 lack it, it rejects polyfilled signals, and in
// Node its signals stay in memory as long as the caller's (https://github.com/nodejs/node/issues/64476).

// Calls with the same signal share one event listener: Node 20 warns of a leak when a signal has more than 10.
const listenersBySignal = new WeakMap<AbortSignal, { listeners: Set<() => void>; notify: () => void }>();

function addAbortListener(signal: AbortSignal, listener: () => void): void {
  const entry = listenersBySignal.get(signal);
  if (entry) {
    entry.listeners.add(listener);
    return;
  }
  const listeners = new Set([listener]);
  const notify = () => listeners.forEach((listener) => listener());
  listenersBySignal.set(signal, { listeners, notify });
  signal.addEventListener("abort", notify);
}

function removeAbortListener(signal: AbortSignal, listener: () => void): void {
  const entry = listenersBySignal.get(signal);
  entry?.listeners.delete(listener);
  if (!entry || entry.listeners.size > 0) return;
  listenersBySignal.delete(signal);
  signal.removeEventListener("abort", entry.notify);
}
