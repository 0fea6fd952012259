// CPU times from /proc. On systems without /proc, these functions return `undefined` or an empty map.
import { readFileSync, readdirSync } from "node:fs";

// The unit of /proc/*/stat: Linux reports 100 ticks per second on every architecture that Node supports.
const TICKS_PER_SECOND = 100;

/** The parent of a process, and the CPU seconds of the process and its exited children. */
function statOf(pid) {
  let text;
  try {
    text = readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    return undefined;
  }
  // The second field is the program's name in parentheses, which can contain spaces.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return { parent: Number(fields[1]), seconds: ticks / TICKS_PER_SECOND };
}

/** The CPU seconds of this process and its exited children. */
export const cpuOfSelf = () => statOf("self")?.seconds;

/** The CPU seconds of processes, including their descendants: a map by process id. */
export function cpuOfTrees(pids) {
  const secondsByPid = new Map();
  if (pids.length === 0) return secondsByPid;
  const children = new Map();
  const seconds = new Map();
  let names = [];
  try {
    names = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  } catch {
    return secondsByPid;
  }
  for (const name of names) {
    const stat = statOf(name);
    if (!stat) continue;
    const pid = Number(name);
    seconds.set(pid, stat.seconds);
    children.set(stat.parent, [...(children.get(stat.parent) ?? []), pid]);
  }
  const sum = (pid) => (children.get(pid) ?? []).reduce((all, child) => all + sum(child), seconds.get(pid) ?? 0);
  for (const pid of pids) if (seconds.has(pid)) secondsByPid.set(pid, sum(pid));
  return secondsByPid;
}
