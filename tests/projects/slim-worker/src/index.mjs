import { ConnectorVault, initSync } from "connector-vault/slim";
import module from "connector-vault/connector-vault.wasm";

initSync(module);

export default {
  async fetch(request, { VAULT_URL, VAULT_KEY }) {
    if (new URL(request.url).pathname === "/health") return new Response("ok\n");
    const vault = new ConnectorVault({ baseUrl: VAULT_URL, secret: VAULT_KEY });
    const connectors = await vault.connectors.list({ limit: 2 }).toArray();
    return Response.json(connectors.map(({ name }) => name));
  },
};
