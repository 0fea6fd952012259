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
import { folder, wranglerEnvironment } from "../support/workspace.mjs";

const START_MS = 600_000;
const ADDRESS = "http://localhost:8787";

/** How the output of `npm start` ends. */
const KEY_AT_THE_END = /\n {2}(sk_test_\w+)\n\n$/;

export function npmStart(world) {
  describe("npm start", () => {
    test("serves what it prints", async () => {
      const port = await freePort();
      const args = [
        "start",
        "--",
        "--port",
        String(port),
        "--inspector-port",
        String(await freePort()),
        "--persist-to",
        join(folder, "start"),
      ];
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
        const lines = output.match(/^ {2}(?:KEY=|curl ).*$/gm).map((line) => line.trim());
        assert.ok(lines.length > 5, output);
        mkdirSync(join(folder, "start-shell"));
        const { answers } = await new Shell(join(folder, "start-shell")).run(lines.join("\n"));
        assert.equal(answers.length, lines.length - 1);
        // Who has a catalog of their own in .catalog sees that one, which may lack GitHub.
        const own = output.includes("your own, in .catalog/");
        for (const { status, url, text } of answers)
          assert.ok(status === "200" || (own && JSON.parse(text).code === "platform_not_found"), `${url}: ${text}`);
        // The key stays in view, whatever is asked, and is there to be had again.
        const [, shown] = output.match(KEY_AT_THE_END) ?? assert.fail(`something comes after the key:\n${output}`);
        assert.equal(lines[0], `KEY=${shown}`);
        const again = await promisify(execFile)(
          "npm",
          ["run", "--silent", "keys", "--", "demo", "--persist-to", join(folder, "start")],
          { cwd: root, env: environment(wranglerEnvironment) },
        );
        assert.equal(again.stdout, `${shown}\n`);
      } finally {
        end();
        process.off("exit", end);
        await ended;
      }
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
