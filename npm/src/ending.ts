// What ends a call before its response: its time, or the caller's signal.
import { AbortError, TimeoutError, type VaultError } from "./errors.js";

export class Ending {
  #controller = new AbortController();
  #caller: AbortSignal | undefined;
  #timer: ReturnType<typeof setTimeout>;
  #error: VaultError | undefined;
  #reject: (error: VaultError) => void = () => {};

  constructor(caller: AbortSignal | undefined, timeoutMs: number) {
    this.#caller = caller;
    if (caller?.aborted) this.#abort();
    if (caller) listen(caller, this.#abort);
    const message = `There was no answer within ${timeoutMs} ms.`;
    this.#timer = setTimeout(() => this.#end(new TimeoutError(message, { code: "timeout" })), timeoutMs);
  }

  /** Aborts `fetch` at the end. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  #abort = () => {
    this.#end(new AbortError("The call was ended by its signal.", { code: "aborted", cause: this.#caller?.reason }));
  };

  #end(error: VaultError): void {
    this.#error ??= error;
    this.#reject(this.#error);
    this.#controller.abort();
  }

  /** Waits for a promise, but not after the end: also if `fetch` ignores the signal. Does not start it after the end. */
  race<T>(start: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#error) throw this.#error;
      this.#reject = reject;
      start().then(resolve, reject);
    });
  }

  sleep(milliseconds: number): Promise<void> {
    let timer: ReturnType<typeof setTimeout>;
    const slept = () =>
      new Promise<void>((done) => {
        timer = setTimeout(done, milliseconds);
      });
    return this.race(slept).finally(() => clearTimeout(timer));
  }

  close(): void {
    clearTimeout(this.#timer);
    if (this.#caller) unlisten(this.#caller, this.#abort);
  }
}

// Who listens to each signal. Each signal gets one listener, because Node warns of many as of a leak.
const heard = new WeakMap<AbortSignal, { ears: Set<() => void>; listener: () => void }>();

function listen(signal: AbortSignal, ear: () => void): void {
  const known = heard.get(signal);
  if (known) {
    known.ears.add(ear);
    return;
  }
  const ears = new Set([ear]);
  const listener = () => ears.forEach((one) => one());
  heard.set(signal, { ears, listener });
  signal.addEventListener("abort", listener);
}

function unlisten(signal: AbortSignal, ear: () => void): void {
  const known = heard.get(signal);
  known?.ears.delete(ear);
  if (!known || known.ears.size > 0) return;
  heard.delete(signal);
  signal.removeEventListener("abort", known.listener);
}
