// `npm start`: what it prints and serves.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import { root } from "../../../scripts/lib/paths.mjs";
import { environment } from "../../../scripts/lib/run.mjs";
import { page } from "../support/docs.mjs";
import { freePort } from "../support/server.mjs";
import { Shell } from "../support/shell.mjs";
import { State, folder, wranglerEnvironment } from "../support/workspace.mjs";

const START_MS = 600_000;
const ADDRESS = "http://localhost:8787";

/** How the output of `npm start` ends. */
const KEY_AT_THE_END = /\n {2}(sk_test_\w+)\n\n$/;

/** The lines that are meant to be pasted. */
const pasted = (output) => (output.match(/^ {2}(?:KEY=|curl ).*$/gm) ?? []).map((line) => line.trim());

/**
 * Runs `npm start` once, pastes what it prints, and ends it: { output, answers, key, shownAgain, isOwn, state }. `isOwn` is
 * whether it served a catalog of the operator's own, from .catalog; `state` is its storage.
 */
export async function start() {
  const state = new State("start");
  const ports = { "--port": await freePort(), "--inspector-port": await freePort() };
  const args = ["start", "--", ...Object.entries(ports).flat().map(String), "--persist-to", state.path];
  const started = spawn("npm", args, {
    cwd: root,
    env: environment(wranglerEnvironment),
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const ended = new Promise((done) => started.once("close", done));
  const end = () => started.exitCode === null && process.kill(-started.pid, "SIGTERM");
  process.on("exit", end);
  let output = "";
  try {
    await new Promise((done, fail) => {
      const timer = setTimeout(() => fail(new Error(`npm start did not become ready:\n${output}`)), START_MS);
      const take = (text) => {
        output += text;
        if (KEY_AT_THE_END.test(output)) done(clearTimeout(timer));
      };
      started.stdout.setEncoding("utf8").on("data", take);
      started.stderr.setEncoding("utf8").on("data", take);
      ended.then(() => fail(new Error(`npm start ended:\n${output}`)));
    });
    mkdirSync(join(folder, "start-shell"));
    const { answers } = await new Shell(join(folder, "start-shell")).run(pasted(output).join("\n"));
    const again = ["run", "--silent", "keys", "--", "demo", "--persist-to", state.path];
    const env = environment(wranglerEnvironment);
    const { stdout: shownAgain } = await promisify(execFile)("npm", again, { cwd: root, env });
    const key = KEY_AT_THE_END.exec(output)?.[1];
    return { output, answers, key, shownAgain, isOwn: output.includes("your own, in .catalog/"), state };
  } finally {
    end();
    process.off("exit", end);
    await ended;
  }
}

export function npmStart(world) {
  describe("npm start", () => {
    test("serves what it prints", () => {
      const { output, answers, key, shownAgain, isOwn } = world.start;
      const lines = pasted(output);
      assert.ok(lines.length > 5, output);
      assert.equal(answers.length, lines.length - 1);
      // Who has a catalog of their own in .catalog sees that one, which may lack GitHub.
      for (const { status, url, text } of answers)
        assert.ok(status === "200" || (isOwn && JSON.parse(text).code === "platform_not_found"), `${url}: ${text}`);
      // The key stays in view, whatever is asked, and is there to be had again.
      assert.ok(key, `something comes after the key:\n${output}`);
      assert.equal(lines[0], `KEY=${key}`);
      assert.equal(shownAgain, `${key}\n`);
    });

    test("shows the pages that README tells of", async () => {
      const table = page("README.md").tables.find(([[head]]) => head.includes(ADDRESS));
      const paths = table
        .slice(1)
        .map(([cell]) => cell.replaceAll("`", ""))
        .filter((path) => !path.includes("…"));
      assert.ok(paths.length >= 5);
      for (const path of paths) {
        const answer = await fetch(`http://127.0.0.1:${world.server.port}${path}`);
        assert.equal(answer.status, 200, path);
        assert.match(answer.headers.get("content-type"), /^text\/html/, path);
      }
    });
  });
}
