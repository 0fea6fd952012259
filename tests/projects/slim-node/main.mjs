import { readFile } from "node:fs/promises";
import { ConnectorVault, init } from "connector-vault/slim";

await init(await readFile(new URL(import.meta.resolve("connector-vault/connector-vault.wasm"))));
const { VAULT_URL, VAULT_KEY } = process.env;
const vault = new ConnectorVault({ baseUrl: VAULT_URL, secret: VAULT_KEY });
const names = [];
for await (const connector of vault.connectors.list({ limit: 2 })) names.push(connector.name);
console.log(JSON.stringify(names));
