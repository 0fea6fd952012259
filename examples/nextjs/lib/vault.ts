import "server-only";
import { ConnectorVault, type Session } from "connector-vault";

const { VAULT_URL = "http://localhost:8787", VAULT_KEY = "", APP_URL = "http://localhost:3000" } = process.env;

export const vaultUrl = VAULT_URL;

/**
 * A token with access to the connections of one user only. The key, which has access to those of all users, never leaves this
 * file.
 */
export function createSession(user: string): Promise<Session> {
  const vault = new ConnectorVault({ baseUrl: VAULT_URL, secret: VAULT_KEY });
  return vault.sessions.create({
    identity: user,
    identityType: "user",
    scopes: ["catalog:read", "connections:read", "connections:connect"],
    // The connect window trusts pages of this origin to have authenticated their user.
    origins: [APP_URL],
  });
}

/** A client for the server, limited to one user: the vault rejects the connections of all others. */
export function vaultOf(user: string): ConnectorVault {
  const vault = new ConnectorVault({ baseUrl: VAULT_URL, secret: VAULT_KEY });
  const secret = () => vault.sessions.create({ identity: user, identityType: "user", scopes: ["connections:call"] });
  return new ConnectorVault({ baseUrl: VAULT_URL, secret });
}
