// Configures sign-in for agents of the demo account, with the demo platform, so that an agent only needs a URL.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { SIGN_IN } from "../demo-notes/server.mjs";
import { isStamped, stamp } from "../lib/fingerprint.mjs";

/**
 * Configures sign-in once, and not again after a user has disabled it. Does not replace another configuration.
 * @param {{ state: string }} options @param {string} address of the service @param {string} key of the demo account
 * @param {{ origin: string }} [demo] the demo platform
 * @returns {Promise<string | undefined>} the URL for agents, if sign-in is configured
 */
export async function configureSignIn({ state }, address, key, demo) {
  const send = async (method, body) => {
    const headers = { "x-service-secret": key, "content-type": "application/json" };
    const response = await fetch(`${address}/v1/agent-sign-in`, {
      method,
      headers,
      body: body && JSON.stringify(body),
    });
    return response.ok ? response.json() : undefined;
  };
  try {
    const existing = await send("GET");
    // Kept in the database's folder, so that deleting the database deletes this record, too.
    const stampFile = join(state, "v3", "d1", ".demo-sign-in");
    // Replace only a configuration of a previous start: the developer's own app may use the same path on this machine.
    const isReplaceable = existing ? isStamped(stampFile, existing.url) : !existsSync(stampFile);
    const url = demo && `${demo.origin}${SIGN_IN}`;
    if (!url || !isReplaceable || existing?.url === url) return existing?.endpoint;
    const replacement = await send("PUT", { type: "app", url });
    if (replacement) stamp(stampFile, url);
    return replacement?.endpoint ?? existing?.endpoint;
  } catch {
    // With `--local-protocol https`, `fetch` rejects wrangler's self-signed certificate. Sign-in is optional.
    return undefined;
  }
}
