// Errors for the user: a message, and a hint on how to fix it.
import { paint, log } from "./status.mjs";

const POLL_MS = 200;

export class Problem extends Error {
  /**
   * @param {string} message one sentence
   * @param {{ hint?: string, output?: string, code?: number }} [more]
   */
  constructor(message, { hint, output, code = 1 } = {}) {
    super(message);
    this.hint = hint;
    this.output = output;
    this.code = code;
  }
}

export const asksForHelp = (args) => args.includes("--help") || args.includes("-h");

/** Converts an error of `parseArgs` to a `Problem`, which is printed without a stack. */
function toProblem(error) {
  if (!error?.code?.startsWith?.("ERR_PARSE_ARGS_")) return error;
  return new Problem(error.message.split(". ")[0].replace(/\.?$/, "."), { code: 2 });
}

export function report(error) {
  if (!(error instanceof Problem)) {
    log(error?.stack ?? String(error));
    return;
  }
  if (error.output) log(error.output.trimEnd().replace(/^/gm, "  │ "));
  log(`${paint.red("✗")} ${error.message}`);
  if (error.hint) log(error.hint.replace(/^/gm, "  "));
}

/**
 * Ends this process when its parent, the shell of npm or npx, ends: npm and npx send SIGTERM only to that shell, which does not
 * forward it.
 */
function endWithShell() {
  if (process.env.npm_lifecycle_event === undefined) return;
  const shell = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === shell) return;
    clearInterval(timer);
    process.kill(process.pid, "SIGTERM");
  }, POLL_MS).unref();
}

/** Runs the main function of a script. Prints errors and sets the exit code. */
export async function main(body) {
  endWithShell();
  try {
    process.exitCode = (await body()) ?? 0;
  } catch (thrown) {
    const error = toProblem(thrown);
    report(error);
    process.exitCode = error instanceof Problem ? error.code : 1;
  }
}
