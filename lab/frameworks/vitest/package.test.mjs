import { ConnectorVault, VaultError, parseConnectorKey } from "connector-vault";
import { expect, test } from "vitest";

test("the package runs in Workers", () => {
  expect(navigator.userAgent).toBe("Cloudflare-Workers");
  expect(parseConnectorKey("api::acme::v1")).toEqual({ platform: "acme", platformVersion: "v1" });
});

test("the package's errors are instances of its own class", () => {
  expect(() => parseConnectorKey("no key")).toThrow(VaultError);
  expect(() => new ConnectorVault({ baseUrl: "no address", secret: "x" })).toThrow(VaultError);
});
