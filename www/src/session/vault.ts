// Creates API clients for this origin.
import { ConnectorVault, VaultError, init } from "connector-vault/slim";
import wasm from "connector-vault/connector-vault.wasm?url";

// Load the module while the first page renders. `openVault` reports a failure.
init(wasm).catch(() => {});

export async function openVault(secret: string): Promise<ConnectorVault> {
  await init(wasm);
  return new ConnectorVault({
    baseUrl: location.origin,
    secret,
    // The user has entered the key, and it stays in this tab.
    allowSecretInBrowser: true,
    // Short, because a user is waiting.
    timeoutMs: 15_000,
  });
}

export const KEY_REJECTED = "This key is not valid. It is mistyped, unknown, revoked or expired.";

/** Whether the secret was rejected: by the package if malformed, otherwise by the service. */
export const isUnauthorized = (error: unknown) => error instanceof VaultError && error.status === 401;
