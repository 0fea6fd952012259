// PyPI's `moto`, a server for Amazon's protocols that verifies signatures with Amazon's library.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { installPythonPackages, pythonProgram } from "../../../scripts/setup/python.mjs";
import { freePort } from "./server.mjs";

const READY_MS = 60_000;
const POLL_MS = 100;
/** Creates a user with rights for S3, without authorization checks. */
const SETUP_REQUESTS = [
  { Action: "CreateUser", UserName: "ann" },
  {
    Action: "PutUserPolicy",
    UserName: "ann",
    PolicyName: "all",
    PolicyDocument: JSON.stringify({
      Version: "2012-10-17",
      Statement: [{ Effect: "Allow", Action: "s3:*", Resource: "*" }],
    }),
  },
  { Action: "CreateAccessKey", UserName: "ann" },
];

export class Moto {
  /** Starts the server with a user, whose keys are in `keys`. */
  static async start() {
    await installPythonPackages("moto", join("tests", "python", "moto.txt"));
    const moto = new Moto();
    moto.port = await freePort();
    moto.origin = `http://127.0.0.1:${moto.port}`;
    moto.child = spawn(pythonProgram("moto", "moto_server"), ["-H", "127.0.0.1", "-p", String(moto.port)], {
      env: { ...process.env, INITIAL_NO_AUTH_ACTION_COUNT: String(SETUP_REQUESTS.length) },
      stdio: ["ignore", "ignore", "pipe"],
    });
    moto.ended = new Promise((done) => moto.child.once("close", done));
    const output = text(moto.child.stderr);
    try {
      await moto.#ready();
      let made;
      for (const request of SETUP_REQUESTS) made = await moto.#iam(request);
      const [, accessKeyId] = made.match(/<AccessKeyId>(.*)<\/AccessKeyId>/);
      const [, secretAccessKey] = made.match(/<SecretAccessKey>(.*)<\/SecretAccessKey>/);
      moto.keys = { accessKeyId, secretAccessKey };
    } catch (error) {
      await moto.stop();
      throw new Error(await output, { cause: error });
    }
    return moto;
  }

  async #ready() {
    const until = Date.now() + READY_MS;
    while (!(await fetch(`${this.origin}/moto-api/`).catch(() => undefined))?.ok) {
      if (this.child.exitCode !== null || Date.now() > until) throw new Error("moto did not become ready");
      await pause(POLL_MS);
    }
  }

  async #iam(request) {
    const authorization = "AWS4-HMAC-SHA256 Credential=x/20260101/us-east-1/iam/aws4_request";
    const body = new URLSearchParams({ ...request, Version: "2010-05-08" });
    const response = await fetch(this.origin, { method: "POST", headers: { authorization }, body });
    const output = await response.text();
    if (!response.ok) throw new Error(output);
    return output;
  }

  stop() {
    this.child.kill();
    return this.ended;
  }
}
