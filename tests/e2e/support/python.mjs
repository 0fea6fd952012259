// Python clients: the SDK of the Model Context Protocol, and the library of Standard Webhooks.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { root } from "../../../scripts/lib/paths.mjs";
import { clientPackages, pythonProgram } from "../../../scripts/setup/python.mjs";

const SCRIPTS_FOLDER = join("tests", "python");

/** Starts a script with its packages. */
async function start(script, ...args) {
  await clientPackages();
  return spawn(pythonProgram("clients", "python"), [join(root, SCRIPTS_FOLDER, script), ...args]);
}

/** Verifies a webhook with PyPI's `standardwebhooks`. Returns the event, or fails. */
export async function verifyInPython({ headers, body }, secret) {
  const child = await start("verify_webhook.py");
  child.stdin.end(JSON.stringify({ secret, headers, body }));
  const [output, failed] = await Promise.all([text(child.stdout), text(child.stderr)]);
  if (!output) throw new Error(failed);
  return JSON.parse(output);
}

export class PythonClient {
  #child;
  #lines;
  #follow;

  /** @param {"legacy" | "auto"} mode `legacy`: starts with a handshake; `auto`: first requests the server's versions */
  static async connect(address, secret, mode) {
    const client = new PythonClient();
    client.#child = await start("mcp_client.py", String(address), secret, mode);
    client.#lines = createInterface({ input: client.#child.stdout })[Symbol.asyncIterator]();
    const errors = text(client.#child.stderr);
    const { done } = await client.#lines.next();
    if (done) throw new Error(await errors);
    return client;
  }

  /**
   * Connects with the client's own OAuth. `follow` lets a user open a link, and returns the parameters of the redirect;
   * it fails if the client must not need its user.
   */
  static async signIn(address, redirectUrl, follow) {
    const client = new PythonClient();
    client.#child = await start("mcp_sign_in.py", String(address), redirectUrl);
    client.#lines = createInterface({ input: client.#child.stdout })[Symbol.asyncIterator]();
    client.#follow = follow;
    await client.#answer();
    return client;
  }

  /** Returns the client's next response. Until it arrives, follows the links that the client asks its user to open. */
  async #answer() {
    const { done, value } = await this.#lines.next();
    if (done) throw new Error(await text(this.#child.stderr));
    const reply = JSON.parse(value);
    if (reply.failed) throw new Error(reply.failed);
    if (!reply.open) return reply;
    const back = await this.#follow(reply.open).then(Object.fromEntries, ({ message }) => ({ refused: message }));
    this.#child.stdin.write(`${JSON.stringify(back)}\n`);
    return this.#answer();
  }

  #ask(input) {
    this.#child.stdin.write(`${JSON.stringify(input)}\n`);
    return this.#answer();
  }

  listTools() {
    return this.#ask({});
  }

  callTool(input) {
    return this.#ask(input);
  }

  async close() {
    const ended = this.#child.exitCode ?? once(this.#child, "close");
    this.#child.stdin.end();
    await ended;
  }
}
