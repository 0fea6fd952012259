// The service as the npm package runs it: `connector-vault-server start`, on a storage of a test.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { freePort } from "../tests/e2e/support/server.mjs";
import { onlyNode } from "../tests/e2e/support/server-package.mjs";

const START_MS = 300_000;
/** Matches the end of the output when the server is ready. */
const IS_READY = /\n {2}sk_test_\w+\n\n$/;

export class PackagedServer {
  /** @param {{ project: string, server: string }} installed the folders of the project and of the package */
  static async start({ project, server }, state) {
    const packaged = new PackagedServer();
    [packaged.port, packaged.inspectorPort] = [await freePort(), await freePort()];
    const options = ["--port", packaged.port, "--inspector-port", packaged.inspectorPort, "--persist-to", state.path];
    const args = [join(server, "bin.cjs"), "start", "--ip", "127.0.0.1", "--no-demo", ...options.map(String)];
    // A process group, which can be killed as a whole.
    const child = spawn(process.execPath, args, {
      cwd: project,
      env: onlyNode,
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    packaged.child = child;
    packaged.ended = new Promise((done) => child.once("close", done));
    packaged.output = "";
    await new Promise((done, fail) => {
      const timer = setTimeout(() => fail(new Error(`the package did not start:\n${packaged.output}`)), START_MS);
      const take = (text) => {
        packaged.output += text;
        if (IS_READY.test(packaged.output)) done(clearTimeout(timer));
      };
      for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", take);
      packaged.ended.then(() => fail(new Error(`the package exited:\n${packaged.output}`)));
    });
    return packaged;
  }

  /** Stops all processes of the service: SIGKILL ends them immediately, SIGTERM lets them clean up. */
  async stop(signal = "SIGTERM") {
    if (this.child.exitCode === null && this.child.signalCode === null) process.kill(-this.child.pid, signal);
    await this.ended;
  }
}
