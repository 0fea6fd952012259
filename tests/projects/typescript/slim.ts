import { ConnectorVault, init, initSync } from "connector-vault/slim";
import type { ModuleSource } from "connector-vault/slim";

const sources: ModuleSource[] = [
  "/connector-vault.wasm",
  new URL("https://pages.example/connector-vault.wasm"),
  new Uint8Array(8).buffer,
];

export async function loaded(bytes: Uint8Array, baseUrl: string, secret: string): Promise<ConnectorVault> {
  for (const source of sources) await init(source);
  await init(fetch("https://pages.example/connector-vault.wasm"));
  initSync(bytes);
  // @ts-expect-error: a number is not a module source
  await init(1);
  // @ts-expect-error: a URL can't be loaded synchronously
  initSync("/connector-vault.wasm");
  return new ConnectorVault({ baseUrl, secret });
}
