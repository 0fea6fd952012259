// Sign-in for the agents of the demo account's users, at the demo platform, so that an agent needs nothing but an address.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { SIGN_IN } from "../demo-notes/server.mjs";
import { isStamped, stamp } from "../lib/fingerprint.mjs";

/**
 * Configures it: once, and never again for somebody who has switched it off. Whatever else is configured stays.
 * @param {{ state: string }} options @param {string} address of the service @param {string} key of the demo account
 * @param {{ origin: string }} [demo] the demo platform
 * @returns {Promise<string | undefined>} the address that agents connect to, if there is a sign-in
 */
export async function configureSignIn({ state }, address, key, demo) {
  const send = async (method, body) => {
    const headers = { "x-service-secret": key, "content-type": "application/json" };
    const answer = await fetch(`${address}/v1/agent-sign-in`, { method, headers, body: body && JSON.stringify(body) });
    return answer.ok ? answer.json() : undefined;
  };
  try {
    const found = await send("GET");
    // Beside the database that has it: whoever deletes that deletes this.
    const done = join(state, "v3", "d1", ".demo-sign-in");
    // Only what an earlier start configured: an app of the developer's own may have the same path on this machine.
    const isOurs = found ? isStamped(done, found.url) : !existsSync(done);
    const url = demo && `${demo.origin}${SIGN_IN}`;
    if (!url || !isOurs || found?.url === url) return found?.endpoint;
    const configured = await send("PUT", { type: "app", url });
    if (configured) stamp(done, url);
    return configured?.endpoint ?? found?.endpoint;
  } catch {
    // With `--local-protocol https` the certificate is wrangler's own. The service works without this.
    return undefined;
  }
}
