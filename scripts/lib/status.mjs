// What the scripts tell: one line per thing done, and a sign of life every so often while it lasts.
// All of it goes to stderr, so that `npm run --silent keys -- … --json` leaves stdout to the answer.

import { AsyncLocalStorage } from "node:async_hooks";

const tty = Boolean(process.stderr.isTTY) && !process.env.CI;
const colour = tty && !process.env.NO_COLOR;
const wrap = (code) => (text) => (colour ? `\u001b[${code}m${text}\u001b[0m` : text);
export const paint = { red: wrap(31), green: wrap(32), dim: wrap(2), bold: wrap(1) };

/** Milliseconds → "850 ms", "12.3 s", "2 min 05 s". */
export function elapsed(ms) {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, "0")} s`;
}

const active = new Map();
/** What is done, and how many milliseconds it took: { label, took }. */
export const times = [];
const FIRST_SIGN_MS = 2000;
// biome-ignore lint/correctness/noUnusedVariables: it is set once, which is all that matters
let timer;
let drawn = false;

function clear() {
  if (drawn) process.stderr.write("\r\u001b[K");
  drawn = false;
}

// Where what is said goes instead: an array of lines.
const gathered = new AsyncLocalStorage();

export function say(text = "") {
  const lines = gathered.getStore();
  if (lines) {
    lines.push(text);
    return;
  }
  clear();
  process.stderr.write(`${text}\n`);
}

/** Prints a result, which a program may read: to standard output. */
export function print(text = "") {
  clear();
  process.stdout.write(`${text}\n`);
}

/** Says something at once, whatever is gathered here. */
export const sayNow = (text) => gathered.exit(() => say(text));

/** Whether what is said here is gathered. */
export const isGathered = () => gathered.getStore() !== undefined;

/** Runs `body`, and gathers in `lines` what is said meanwhile instead of printing it; gives all of it as a text. */
export async function gather(body, lines = []) {
  await gathered.run(lines, body);
  return lines.join("\n");
}

function draw() {
  const now = Date.now();
  const slow = [...active.entries()].filter(([, task]) => now - task.start >= FIRST_SIGN_MS);
  if (slow.length === 0) return;
  if (!tty) {
    for (const [label, task] of slow) {
      if (now - task.told < (task.told === task.start ? FIRST_SIGN_MS : 15_000)) continue;
      task.told = now;
      sayNow(`  … ${label}: ${elapsed(now - task.start)}${task.detail ? ` (${task.detail})` : ""}`);
    }
    return;
  }
  const line = slow
    .map(([label, task]) => `${label} ${elapsed(now - task.start)}${task.detail ? ` (${task.detail})` : ""}`)
    .join(" · ");
  clear();
  process.stderr.write(paint.dim(`  … ${line}`.slice(0, (process.stderr.columns ?? 100) - 1)));
  drawn = true;
}

/**
 * Runs one named piece of work, shows that it lives, and says how long it took.
 * @template T
 * @param {string} label
 * @param {(detail: (text: string) => void) => Promise<T>} body gets a function that names what is going on
 * @param {{ quietBelow?: number }} [options] say nothing when it took less than so many milliseconds
 * @returns {Promise<T>}
 */
export async function task(label, body, { quietBelow = 0 } = {}) {
  const start = Date.now();
  const entry = { start, told: start, detail: "" };
  active.set(label, entry);
  timer ??= setInterval(draw, 1000).unref();
  try {
    const result = await body((text) => {
      entry.detail = text.trim().slice(0, 60);
    });
    const took = Date.now() - start;
    times.push({ label, took });
    if (took >= quietBelow) say(`${paint.green("✓")} ${label} ${paint.dim(`(${elapsed(took)})`)}`);
    return result;
  } finally {
    active.delete(label);
    clear();
  }
}
