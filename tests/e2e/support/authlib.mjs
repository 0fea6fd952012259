// A second authorization server, independent of the first: PyPI's Authlib, which stores grants in memory. Each refresh token works
// once.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { root } from "../../../scripts/lib/paths.mjs";
import { installPythonPackages, pythonProgram } from "../../../scripts/setup/python.mjs";
import { issuedSecrets } from "./connecting.mjs";
import { secrets } from "./http.mjs";

const FOLDER = join("tests", "python");
const CLIENT_SECRET = "a-secret_of.the~second-app-7Qx";
secrets.add(CLIENT_SECRET);
export const SECOND_CLIENT = { clientId: "second.app", clientSecret: CLIENT_SECRET, scopes: ["read", "write"] };

/**
 * The platforms of this server: client authentication with Basic and PKCE, client authentication in the body, and the
 * client-credentials grant.
 */
export function secondPlatforms(origin) {
  const ends = { tokenUrl: `${origin}/token`, revocationUrl: `${origin}/revoke` };
  const users = { ...ends, authorizationUrl: `${origin}/authorize` };
  const methods = {
    "second-basic": { ...users, tokenAuth: "client_secret_basic", pkce: "S256" },
    "second-post": users,
    "second-app": { ...ends, grant: "client_credentials" },
  };
  return Object.fromEntries(Object.entries(methods).map(([name, auth]) => [name, { servers: [origin], auth }]));
}

export class SecondServer {
  static async start() {
    await installPythonPackages("authlib", join(FOLDER, "authlib.txt"));
    const second = new SecondServer();
    const { clientId, scopes } = SECOND_CLIENT;
    const script = join(root, FOLDER, "authorization_server.py");
    const child = spawn(pythonProgram("authlib", "python"), [script, clientId, CLIENT_SECRET, ...scopes], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    [second.child, second.ended] = [child, once(child, "close")];
    const failed = text(child.stderr);
    const { value: port, done } = await createInterface({ input: child.stdout })[Symbol.asyncIterator]().next();
    if (done) throw new Error(await failed);
    second.origin = `http://127.0.0.1:${port}`;
    return second;
  }

  /** Registers the redirect URI of the client. */
  async open(redirectUri) {
    await fetch(`${this.origin}/redirect-uri`, { method: "PUT", body: redirectUri });
  }

  /**
   * Returns the type of each token whose revocation was requested. Also records the issued tokens as secrets, for which all
   * output is searched.
   */
  async revoked() {
    const { issued, revoked } = await (await fetch(`${this.origin}/tokens`)).json();
    for (const secret of issued) issuedSecrets.add(secret);
    return revoked;
  }

  /** The user of an access token, by the headers of requests; undefined if the server does not accept it. */
  async userOf(headers) {
    const response = await fetch(`${this.origin}/me`, { headers });
    return response.status === 200 ? (await response.json()).name : undefined;
  }

  stop() {
    this.child.kill();
    return this.ended;
  }
}
