// `npm test` imports this into every test file. It appends the usage of the test file to the file in CONNECTOR_VAULT_USAGE, and
// terminates a test file that is still running after its last test, for example because a server was not stopped. Such a file fails,
// and its open handles are listed.
import { appendFileSync } from "node:fs";
import { relative } from "node:path";
import { after } from "node:test";
import { isMainThread } from "node:worker_threads";
import { cpuOfSelf } from "../../../scripts/test/cpu.mjs";
import { root } from "../../../scripts/lib/paths.mjs";

// Browsers and servers exit slowly while other tests run.
const GRACE_MS = 120_000;

// Only the process of a test file has NODE_TEST_CONTEXT. The check excludes worker threads, which also import this module.
if (process.env.NODE_TEST_CONTEXT && isMainThread) {
  const usage = process.env.CONNECTOR_VAULT_USAGE;
  if (usage) {
    process.on("exit", () => {
      const file = relative(root, process.argv[1]);
      appendFileSync(usage, `${JSON.stringify({ file, wall: process.uptime(), cpu: cpuOfSelf() })}\n`);
    });
  }
  after(() => {
    const end = () => {
      const handles = [...new Set(process.getActiveResourcesInfo())].join(", ");
      process.stderr.write(`Still open ${GRACE_MS / 1000} s after the last test: ${handles}.\n`);
      process.exit(1);
    };
    setTimeout(end, GRACE_MS).unref();
  });
}
