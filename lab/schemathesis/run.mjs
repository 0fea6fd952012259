// Runs schemathesis, which generates requests from the OpenAPI document, against the service on the real runtime.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { join } from "node:path";
import { root } from "../../scripts/lib/paths.mjs";
import { installPythonPackages, pythonProgram } from "../../scripts/setup/python.mjs";
import { Reference, keys } from "../../tests/e2e/support/reference.mjs";

const FOLDER = join("lab", "schemathesis");
/** The maximum length of a printed line, because generated requests can be long. */
const MAX_LINE_LENGTH = 1000;

/** Runs schemathesis. Returns its output, or fails with it. */
async function runSchemathesis(args, detail) {
  // Its cache of earlier failures would make runs depend on each other.
  const cwd = join(root, "target", "python", "schemathesis");
  const child = spawn(pythonProgram("schemathesis", "st"), args, { cwd, stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "close");
  const lines = [];
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line.slice(0, MAX_LINE_LENGTH));
    if (line.trim()) detail?.(line.trim());
  }
  const [code] = await ended;
  const output = lines.join("\n");
  assert.equal(code, 0, output);
  return output;
}

/**
 * Starts a service whose vault has a resource of each kind, and runs schemathesis against it.
 * @param {{ examples: number, seed: number, detail?: (text: string) => void }} options the number of generated requests per
 *   operation in each of two phases; the number in other phases depends on the document
 * @returns {Promise<string>} the summary of schemathesis; rejects if it finds an error
 */
export async function schemathesis({ examples, seed, detail }) {
  await installPythonPackages("schemathesis", join(FOLDER, "requirements.txt"));
  const reference = await Reference.start(join(root, FOLDER, "platforms.mjs"));
  try {
    const caller = keys.samples;
    for (const operation of ["getCredentials", "createWebhook"]) await reference.environment(operation, caller);
    const args = [
      ["--config-file", join(root, FOLDER, "schemathesis.toml"), "run", `${reference.address}/v1/openapi.json`],
      ["--header", `x-service-secret: ${caller.secret}`, "--phases", "examples,coverage,fuzzing,stateful"],
      ["--max-examples", examples, "--seed", seed, "--warnings", "off"],
    ];
    const output = await runSchemathesis(args.flat().map(String), detail);
    assert.doesNotMatch(reference.server.output, /panicked|RuntimeError|internal request=/);
    return output;
  } finally {
    await reference.stop();
  }
}
