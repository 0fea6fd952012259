// The page's Content-Security-Policy forbids inline scripts, and therefore import maps.
import { ConnectorVault, VaultError } from "/node_modules/connector-vault/dist/index.mjs";

async function show() {
  const { baseUrl, secret } = await (await fetch("/config.json")).json();
  const vault = new ConnectorVault({ baseUrl, secret, allowSecretInBrowser: true });
  for await (const connector of vault.connectors.list({ limit: 2 })) {
    const item = document.createElement("li");
    item.textContent = connector.name;
    document.querySelector("ul").append(item);
  }
}

try {
  await show();
} catch (error) {
  const { name, code, message } = error;
  document.querySelector("p").textContent = JSON.stringify({
    isVaultError: error instanceof VaultError,
    name,
    code,
    message,
  });
}
document.body.setAttribute("data-done", "");
