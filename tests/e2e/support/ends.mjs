// Ends a file of tests that goes on when its last test is over, as with a server that nobody stopped: the run would wait
// for it for ever. The file fails, and says what was left open. `npm test` imports this into every file.
import { after } from "node:test";

// Beside other tests, browsers and servers take long to end.
const GRACE_MS = 120_000;

// Only a file's own process has this; the one that runs the files does not end with a test.
if (process.env.NODE_TEST_CONTEXT) {
  after(() => {
    const end = () => {
      const held = [...new Set(process.getActiveResourcesInfo())].join(", ");
      process.stderr.write(`Still open ${GRACE_MS / 1000} s after the last test: ${held}.\n`);
      process.exit(1);
    };
    setTimeout(end, GRACE_MS).unref();
  });
}
