import { ConnectorVault, init } from "connector-vault/slim";
import url from "connector-vault/connector-vault.wasm?url";

async function show() {
  const { baseUrl, secret } = await (await fetch("/config.json")).json();
  await init(url);
  const vault = new ConnectorVault({ baseUrl, secret, allowSecretInBrowser: true });
  for await (const connector of vault.connectors.list({ limit: 2 })) {
    const item = document.createElement("li");
    item.textContent = connector.name;
    document.querySelector("ul").append(item);
  }
}

show().finally(() => document.body.setAttribute("data-done", ""));
