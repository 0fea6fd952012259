// Creates API clients for this origin.
import { ConnectorVault, VaultError, init } from "connector-vault/slim";
import wasm from "connector-vault/connector-vault.wasm?url";

// Load the module while the first page renders. `openVault` reports failures.
init(wasm).catch(() => {});

export async function openVault(secret: string): Promise<ConnectorVault> {
  await init(wasm);
  return new ConnectorVault({
    baseUrl: location.origin,
    secret,
    // Safe, because the user has entered the key, and it stays in this browser.
    allowSecretInBrowser: true,
    // Short, because a user is waiting.
    timeoutMs: 15_000,
  });
}

export const KEY_REJECTED = "This key is not valid. It is mistyped, unknown, revoked or expired.";

/** Whether the secret was rejected: a malformed one by the package, any other by the service. */
export const isUnauthorized = (error: unknown) => error instanceof VaultError && error.status === 401;
