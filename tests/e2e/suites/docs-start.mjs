// The output of `npm start`, and its service.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import { root } from "../../../scripts/lib/paths.mjs";
import { environment } from "../../../scripts/lib/run.mjs";
import { page } from "../support/docs.mjs";
import { whileStarted } from "../support/npm-start.mjs";
import { Shell } from "../support/shell.mjs";
import { State, folder, wranglerEnvironment } from "../support/workspace.mjs";

const ADDRESS = "http://localhost:8787";

/** The commands in the output that users can paste. */
const pasted = (output) => (output.match(/^ {2}(?:KEY=|curl ).*$/gm) ?? []).map((line) => line.trim());

/**
 * Runs `npm start` once with the printed commands: { output, responses, key, shownAgain, isOwn, state }. `isOwn`: whether it
 * served a catalog of the operator from .catalog; `state`: its storage.
 */
export async function start() {
  const state = new State("start");
  return whileStarted(state, async ({ output, key }) => {
    mkdirSync(join(folder, "start-shell"));
    const { responses } = await new Shell(join(folder, "start-shell")).run(pasted(output).join("\n"));
    const showKey = ["run", "--silent", "keys", "--", "demo", "--persist-to", state.path];
    const env = environment(wranglerEnvironment);
    const { stdout: shownAgain } = await promisify(execFile)("npm", showKey, { cwd: root, env });
    return { output, responses, key, shownAgain, isOwn: output.includes("your own, in .catalog/"), state };
  });
}

export function npmStart(fixture) {
  describe("npm start", () => {
    test("the printed commands work", () => {
      const { output, responses, key, shownAgain, isOwn } = fixture.start;
      const lines = pasted(output);
      assert.ok(lines.length > 5, output);
      assert.equal(responses.length, lines.length - 1);
      // A catalog of the operator in .catalog may lack GitHub.
      for (const { status, url, text } of responses)
        assert.ok(status === "200" || (isOwn && JSON.parse(text).code === "platform_not_found"), `${url}: ${text}`);
      // The key is the last line of the output, and a command can print it again.
      assert.ok(key, `the key is not the last line:\n${output}`);
      assert.equal(lines[0], `KEY=${key}`);
      assert.equal(shownAgain, `${key}\n`);
    });

    test("shows the pages that README lists", async () => {
      const table = page("README.md").tables.find(([[head]]) => head.includes(ADDRESS));
      const paths = table
        .slice(1)
        .map(([cell]) => cell.replaceAll("`", ""))
        .filter((path) => !path.includes("…"));
      assert.ok(paths.length >= 5);
      for (const path of paths) {
        const response = await fetch(`http://127.0.0.1:${fixture.server.port}${path}`);
        assert.equal(response.status, 200, path);
        assert.match(response.headers.get("content-type"), /^text\/html/, path);
      }
    });
  });
}
