// `npm test` imports this into every file of tests. It appends what the file used to the file that CONNECTOR_VAULT_USAGE
// names, and ends a file that is still running after its last test, as with a server that was not stopped: otherwise the run
// would wait for it forever. Such a file fails, and names what was left open.
import { appendFileSync } from "node:fs";
import { relative } from "node:path";
import { after } from "node:test";
import { isMainThread } from "node:worker_threads";
import { cpuOfSelf } from "../../../scripts/test/cpu.mjs";
import { root } from "../../../scripts/lib/paths.mjs";

// Beside other tests, browsers and servers take long to end.
const GRACE_MS = 120_000;

// Only the process of a file has this variable. Its worker threads import this module, too.
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
      const held = [...new Set(process.getActiveResourcesInfo())].join(", ");
      process.stderr.write(`Still open ${GRACE_MS / 1000} s after the last test: ${held}.\n`);
      process.exit(1);
    };
    setTimeout(end, GRACE_MS).unref();
  });
}
