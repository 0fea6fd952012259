import { ConnectorVault } from "connector-vault";

async function show() {
  const { baseUrl, secret } = await (await fetch("/config.json")).json();
  const vault = new ConnectorVault({ baseUrl, secret, allowSecretInBrowser: true });
  for await (const connector of vault.connectors.list({ limit: 2 })) {
    const item = document.createElement("li");
    item.textContent = connector.name;
    document.querySelector("ul").append(item);
  }
}

show().finally(() => document.body.setAttribute("data-done", ""));
