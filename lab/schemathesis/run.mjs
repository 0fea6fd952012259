// schemathesis, which makes up requests from the OpenAPI document, against the service on the real runtime.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { join } from "node:path";
import { root } from "../../scripts/lib/paths.mjs";
import { pythonPackages, pythonProgram } from "../../scripts/setup/python.mjs";
import { Reference, keys } from "../../tests/e2e/support/reference.mjs";

const HERE = join("lab", "schemathesis");
/** Of a line: a request that it made up may be long. */
const SHOWN = 1000;

/** Runs it to its end; gives what it says, or fails with that. */
async function tested(args, detail) {
  // Its cache of what failed before would make one run depend on others.
  const cwd = join(root, "target", "python", "schemathesis");
  const child = spawn(pythonProgram("schemathesis", "st"), args, { cwd, stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "close");
  const lines = [];
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line.slice(0, SHOWN));
    if (line.trim()) detail?.(line.trim());
  }
  const [code] = await ended;
  const said = lines.join("\n");
  assert.equal(code, 0, said);
  return said;
}

/**
 * Starts a service whose vault has something of each kind, and has schemathesis ask it.
 * @param {{ examples: number, seed: number, detail?: (text: string) => void }} options how many requests of an operation are
 *   made up in each of two phases; the others make as many as the document gives cause for
 * @returns {Promise<string>} what schemathesis says in the end; it fails when there is a fault
 */
export async function schemathesis({ examples, seed, detail }) {
  await pythonPackages("schemathesis", join(HERE, "requirements.txt"));
  const reference = await Reference.start(join(root, HERE, "platforms.mjs"));
  try {
    const caller = keys.samples;
    for (const operation of ["getCredentials", "createWebhook"]) await reference.environment(operation, caller);
    const args = [
      ["--config-file", join(root, HERE, "schemathesis.toml"), "run", `${reference.address}/v1/openapi.json`],
      ["--header", `x-service-secret: ${caller.secret}`, "--phases", "examples,coverage,fuzzing,stateful"],
      ["--max-examples", examples, "--seed", seed, "--warnings", "off"],
    ];
    const said = await tested(args.flat().map(String), detail);
    assert.doesNotMatch(reference.server.output, /panicked|RuntimeError|internal request=/);
    return said;
  } finally {
    await reference.stop();
  }
}
