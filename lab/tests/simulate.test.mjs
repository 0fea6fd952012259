// Tests of the simulator.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { root } from "../../scripts/lib/paths.mjs";
import { run } from "../../scripts/lib/run.mjs";
import { random, simulate, waitingTimePercentile, zipf } from "../simulate/model.mjs";

const small = { seed: 7, databases: 20, connections: 1e6, accounts: 500, exponent: 1, limit: 1e9, weeks: 10 };

describe("the simulator", () => {
  test("is deterministic for a seed", () => {
    assert.deepEqual(simulate(small), simulate(small));
    assert.notDeepEqual(simulate(small), simulate({ ...small, seed: 8 }));
  });

  test("generates accounts with sizes by Zipf's law", () => {
    const sizes = zipf(1000, 1e6, 1, random(1)).sort((a, b) => b - a);
    assert.ok(Math.abs(sizes.reduce((sum, size) => sum + size, 0) - 1e6) < 1000);
    assert.ok(Math.abs(sizes[0] / sizes[9] - 10) < 0.01);
  });

  test("fills no database beyond its limit while others have room, and loses no connection", () => {
    const { placed, after, connections, movesPerWeek } = simulate(small);
    assert.ok(placed.most <= 0.8 && after <= 0.8, `${placed.most} ${after}`);
    assert.ok(connections >= 1e6 && connections < 1e6 * 1.02 ** 10);
    assert.equal(simulate({ ...small, databases: 2000 }).movesPerWeek < movesPerWeek + 1, true);
  });

  test("waiting times agree with queueing theory", () => {
    const next = random(1);
    assert.equal(waitingTimePercentile([{ rate: 0, ms: 5 }], next), 0);
    // One kind of query with a fixed duration, at 50 % utilization: the 99th percentile is below 3.6 durations (M/D/1).
    const half = waitingTimePercentile([{ rate: 50, ms: 10 }], next);
    assert.ok(half > 33 && half < 40, String(half));
    assert.ok(waitingTimePercentile([{ rate: 90, ms: 10 }], next) > 3 * half);
  });

  test("prints the tables of docs/scaling.md", async () => {
    const printed = await run("node", [join(root, "lab", "simulate.mjs")]);
    const docs = readFileSync(join(root, "docs", "scaling.md"), "utf8");
    const lines = printed.split("\n").filter((line) => line.startsWith("|"));
    assert.ok(lines.length > 10);
    for (const line of lines) assert.ok(docs.includes(line), line);
  });
});
