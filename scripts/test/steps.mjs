// Runs named steps one after the other and sums them up; a failed step does not hide what the others would say.
import { elapsed, paint, say } from "../lib/status.mjs";
import { report } from "../lib/problem.mjs";

/** A step that had nothing to do, and says so, throws this. */
export class Skipped extends Error {}

export class Steps {
  #done = [];

  /**
   * @param {string} name
   * @param {() => Promise<void>} body
   * @param {{ needs?: string[] }} [options] steps without which this one makes no sense
   */
  async step(name, body, { needs = [] } = {}) {
    const broken = needs.find((need) => this.#done.some((step) => step.name === need && step.result === "failed"));
    say(`\n${paint.bold(`▸ ${name}`)}`);
    const start = Date.now();
    let result = "passed";
    let note = "";
    try {
      if (broken) throw new Skipped(`needs "${broken}"`);
      await body();
    } catch (error) {
      result = error instanceof Skipped ? "skipped" : "failed";
      note = error.message.split("\n")[0];
      if (result === "failed") report(error);
    }
    const took = Date.now() - start;
    this.#done.push({ name, result, note, took });
    say(`  ${result} (${elapsed(took)})${result === "skipped" ? `: ${note}` : ""}`);
  }

  /** Prints the summary; the exit code. */
  close() {
    say(`\n${paint.bold("Summary")}`);
    const signs = { passed: paint.green("✓"), failed: paint.red("✗"), skipped: "–" };
    for (const { name, result, note, took } of this.#done) {
      say(`  ${signs[result]} ${name} ${paint.dim(`(${elapsed(took)})`)}${note ? `: ${note}` : ""}`);
    }
    const count = (wanted) => this.#done.filter(({ result }) => result === wanted).length;
    const total = this.#done.reduce((sum, { took }) => sum + took, 0);
    say(`\n${count("passed")} passed, ${count("failed")} failed, ${count("skipped")} skipped, in ${elapsed(total)}.`);
    return count("failed") > 0 ? 1 : 0;
  }
}
