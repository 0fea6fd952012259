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

/** Whether somebody wants to know the options, not to run the command. */
export const asksForHelp = (given) => given.includes("--help") || given.includes("-h");

/** A mistyped option, which `parseArgs` throws with a stack, as a problem; any other error as it is. */
function readable(error) {
  if (!error?.code?.startsWith?.("ERR_PARSE_ARGS_")) return error;
  return new Problem(error.message.split(". ")[0].replace(/\.?$/, "."), { code: 2 });
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
  } catch (thrown) {
    const error = readable(thrown);
    report(error);
    process.exitCode = error instanceof Problem ? error.code : 1;
  }
}
