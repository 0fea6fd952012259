// The client of the service, which is where this page comes from.
import { ConnectorVault, VaultError, init } from "connector-vault/slim";
import wasm from "connector-vault/connector-vault.wasm?url";

// The module loads while the first page is drawn; a failure is told to whoever opens a vault.
init(wasm).catch(() => {});

/** A client for a secret. */
export async function openVault(secret: string): Promise<ConnectorVault> {
  await init(wasm);
  return new ConnectorVault({
    baseUrl: location.origin,
    secret,
    // Whoever signs in here has the key already; it stays in this tab.
    allowSecretInBrowser: true,
    // A person waits: sooner told than served late.
    timeoutMs: 15_000,
  });
}

/** Whether a failure says that the secret opens nothing: the package tells a mistyped one, the service any other. */
export const isUnauthorized = (error: unknown) => error instanceof VaultError && error.status === 401;
