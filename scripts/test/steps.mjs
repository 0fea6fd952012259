// Runs named steps, concurrently where their dependencies allow it, and prints a summary. All steps run even if one fails. The
// output of a step is printed as a whole when it ends.
import { elapsed, captureLog, paint, log, logNow, task } from "../lib/status.mjs";
import { report } from "../lib/problem.mjs";
import { startedIds } from "../lib/run.mjs";
import { cpuOfSelf, cpuOfTrees } from "./cpu.mjs";

// The interval between samples of the CPU time of a step's programs. Usage after the last sample is missing from the report.
const SAMPLE_MS = 500;

/** Thrown by a step that was skipped, with the reason. */
export class Skipped extends Error {}

export class Steps {
  #steps = new Map();
  #start = Date.now();

  /**
   * Adds a step. Steps start in the order in which they were added.
   * @param {string} name
   * @param {() => Promise<void>} body
   * @param {{ needs?: string[], uses?: string }} [options] `needs`: steps that must pass before; `uses`: a resource that
   *   only one step at a time can use, such as cargo's target folder
   */
  add(name, body, { needs = [], uses } = {}) {
    for (const need of needs)
      if (!this.#steps.has(need)) throw new Error(`"${name}" needs "${need}", which was not added before it`);
    this.#steps.set(name, { name, body, needs, uses, state: "waiting" });
  }

  /** Runs all steps that have not run yet, at most `atOnce` concurrently. */
  async run(atOnce) {
    const running = new Map();
    // On Ctrl-C, print the output of unfinished steps.
    const printUnfinished = () => {
      const running = [...this.#steps.values()].filter(({ state }) => state === "running");
      for (const { name, output } of running)
        logNow([`\n${paint.bold(`▸ ${name}`)} (interrupted)`, ...output].join("\n"));
    };
    process.once("exit", printUnfinished);
    const sampleTimer = setInterval(() => this.#sample(), SAMPLE_MS);
    for (;;) {
      for (let next; running.size < atOnce && (next = this.#next(running)); ) {
        const step = next;
        running.set(
          step.name,
          this.#perform(step).then(() => running.delete(step.name)),
        );
      }
      if (running.size === 0) {
        process.off("exit", printUnfinished);
        clearInterval(sampleTimer);
        return;
      }
      await Promise.race(running.values());
    }
  }

  /** Samples the CPU time of the programs of each step. */
  #sample() {
    const running = [...this.#steps.values()].filter(({ state }) => state === "running");
    const cpuByPid = cpuOfTrees(running.flatMap(({ started: pids }) => [...pids]));
    for (const step of running)
      for (const pid of step.started) if (cpuByPid.has(pid)) step.cpu.set(pid, cpuByPid.get(pid));
  }

  /** The first step that can start now. */
  #next(running) {
    const usedResources = new Set([...running.keys()].map((name) => this.#steps.get(name).uses));
    const isOver = (name) => ["passed", "failed", "skipped"].includes(this.#steps.get(name).state);
    return [...this.#steps.values()].find(
      ({ state, needs, uses }) =>
        state === "waiting" && needs.every(isOver) && (uses === undefined || !usedResources.has(uses)),
    );
  }

  async #perform(step) {
    step.state = "running";
    step.output = [];
    step.started = new Set();
    step.cpu = new Map();
    const start = Date.now();
    await captureLog(async () => {
      try {
        const failedNeed = step.needs.find((need) => this.#steps.get(need).state !== "passed");
        if (failedNeed) throw new Skipped(`needs "${failedNeed}"`);
        await startedIds.run(step.started, () => task(step.name, step.body, { quietBelow: Infinity }));
        step.state = "passed";
      } catch (error) {
        step.state = error instanceof Skipped ? "skipped" : "failed";
        step.note = error.message.split("\n")[0];
        if (step.state === "failed") report(error);
      }
    }, step.output);
    step.took = Date.now() - start;
    log(`\n${paint.bold(`▸ ${step.name}`)}`);
    if (step.output.length > 0) log(step.output.join("\n"));
    log(`  ${step.state} (${elapsed(step.took)})${step.state === "skipped" ? `: ${step.note}` : ""}`);
  }

  /** Prints the summary. Returns the exit code. */
  close() {
    log(`\n${paint.bold("Summary")}`);
    const symbols = { passed: paint.green("✓"), failed: paint.red("✗"), skipped: "–" };
    const allSteps = [...this.#steps.values()];
    for (const { name, state, note, took, cpu } of allSteps) {
      const cpuSeconds = [...cpu.values()].reduce((sum, seconds) => sum + seconds, 0);
      const duration = cpuSeconds >= 1 ? `${elapsed(took)}, CPU ${elapsed(cpuSeconds * 1000)}` : elapsed(took);
      log(`  ${symbols[state]} ${name} ${paint.dim(`(${duration})`)}${note ? `: ${note}` : ""}`);
    }
    const count = (expected) => allSteps.filter(({ state }) => state === expected).length;
    const total = cpuOfSelf();
    const cpu = total === undefined ? "" : ` with ${elapsed(total * 1000)} of CPU`;
    log(
      `\n${count("passed")} passed, ${count("failed")} failed, ${count("skipped")} skipped, in ${elapsed(Date.now() - this.#start)}${cpu}.`,
    );
    return count("failed") > 0 ? 1 : 0;
  }
}
