// Progress messages of scripts: one line for each finished task, and regular updates while a task runs. They go to stderr, so that
// stdout contains only the result of a command such as `npm run --silent keys -- … --json`.

import { AsyncLocalStorage } from "node:async_hooks";

const tty = Boolean(process.stderr.isTTY) && !process.env.CI;
const colour = tty && !process.env.NO_COLOR;
const ansiStyle = (code) => (text) => (colour ? `\u001b[${code}m${text}\u001b[0m` : text);
export const paint = { red: ansiStyle(31), green: ansiStyle(32), dim: ansiStyle(2), bold: ansiStyle(1) };

/** Formats milliseconds: "850 ms", "12.3 s", "2 min 05 s". */
export function elapsed(ms) {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, "0")} s`;
}

/** Matches the progress message of a script that this script has started. */
const NESTED_UPDATE = /^… .*: [\d.]+ (?:ms|s|min \d\d s) \((.*)\)$/;
/** The part of a line of output that is shown in parentheses after a task's name. */
export const detailOf = (line) => line.trim().replace(NESTED_UPDATE, "$1").slice(0, 60);
const active = new Map();
/** The finished tasks, with their durations in milliseconds: { label, took }. */
export const finishedTasks = [];
const FIRST_UPDATE_MS = 2000;
const UPDATE_INTERVAL_MS = 15_000;
// biome-ignore lint/correctness/noUnusedVariables: `??=` reads it, to start only one timer
let timer;
let isDrawn = false;

function clear() {
  if (isDrawn) process.stderr.write("\r\u001b[K");
  isDrawn = false;
}

// The array that receives messages instead of stderr while they are captured.
const capturedLines = new AsyncLocalStorage();

export function log(text = "") {
  const lines = capturedLines.getStore();
  if (lines) {
    lines.push(text);
    return;
  }
  clear();
  process.stderr.write(`${text}\n`);
}

/** Prints a result to stdout. */
export function print(text = "") {
  clear();
  process.stdout.write(`${text}\n`);
}

/** Prints a message immediately, even while messages are captured. */
export const logNow = (text) => capturedLines.exit(() => log(text));

export const isLogCaptured = () => capturedLines.getStore() !== undefined;

/** Runs `body`, and captures its messages in `lines` instead of printing them. Returns them as one string. */
export async function captureLog(body, lines = []) {
  await capturedLines.run(lines, body);
  return lines.join("\n");
}

function drawProgress() {
  const now = Date.now();
  const slow = [...active.entries()].filter(([, task]) => now - task.start >= FIRST_UPDATE_MS);
  if (slow.length === 0) return;
  if (!tty) {
    for (const [label, task] of slow) {
      if (now - task.updatedAt < (task.updatedAt === task.start ? FIRST_UPDATE_MS : UPDATE_INTERVAL_MS)) continue;
      task.updatedAt = now;
      logNow(`  … ${label}: ${elapsed(now - task.start)}${task.detail ? ` (${task.detail})` : ""}`);
    }
    return;
  }
  const line = slow
    .map(([label, task]) => `${label} ${elapsed(now - task.start)}${task.detail ? ` (${task.detail})` : ""}`)
    .join(" · ");
  clear();
  process.stderr.write(paint.dim(`  … ${line}`.slice(0, (process.stderr.columns ?? 100) - 1)));
  isDrawn = true;
}

/**
 * Runs a named task, shows its progress, and prints how long it took.
 * @template T
 * @param {string} label
 * @param {(detail: (text: string) => void) => Promise<T>} body gets a function that sets the detail to show
 * @param {{ quietBelow?: number }} [options] print nothing if it took less than this many milliseconds
 * @returns {Promise<T>}
 */
export async function task(label, body, { quietBelow = 0 } = {}) {
  const start = Date.now();
  const entry = { start, updatedAt: start, detail: "" };
  active.set(label, entry);
  timer ??= setInterval(drawProgress, 1000).unref();
  try {
    const result = await body((text) => {
      entry.detail = detailOf(text);
    });
    const took = Date.now() - start;
    finishedTasks.push({ label, took });
    if (took >= quietBelow) log(`${paint.green("✓")} ${label} ${paint.dim(`(${elapsed(took)})`)}`);
    return result;
  } finally {
    active.delete(label);
    clear();
  }
}
