import { ConnectorVault } from "connector-vault";

new ConnectorVault({ baseUrl: "https://vault.example", secret: "sk_test_mistyped" });
