// A failure that a person can act on: what went wrong, and what to do about it.
import { paint, say } from "./status.mjs";

export class Problem extends Error {
  /**
   * @param {string} message what went wrong, one sentence
   * @param {{ hint?: string, output?: string, code?: number }} [more]
   */
  constructor(message, { hint, output, code = 1 } = {}) {
    super(message);
    this.hint = hint;
    this.output = output;
    this.code = code;
  }
}

/** Prints a failure. */
export function report(error) {
  if (!(error instanceof Problem)) {
    say(error?.stack ?? String(error));
    return;
  }
  if (error.output) say(error.output.trimEnd().replace(/^/gm, "  │ "));
  say(`${paint.red("✗")} ${error.message}`);
  if (error.hint) say(error.hint.replace(/^/gm, "  "));
}

/** Runs a script's main function; a failure is printed and sets the exit code. */
export async function main(body) {
  try {
    process.exitCode = (await body()) ?? 0;
  } catch (error) {
    report(error);
    process.exitCode = error instanceof Problem ? error.code : 1;
  }
}
