// The service on the real runtime with a catalog of stand-in platforms, and connections to them.
import { App, SCOPES, VAULT_KEY } from "../tests/e2e/support/connecting.mjs";
import { key, store } from "../tests/e2e/support/keys.mjs";
import { SESSION_SECRET, Server } from "../tests/e2e/support/server.mjs";
import { State, build } from "../tests/e2e/support/workspace.mjs";

export class PlatformService {
  /** @param {string} name @param {() => Promise<object>} importCatalog is called when everything is built */
  async start(name, importCatalog) {
    await build();
    this.catalog = await importCatalog();
    const state = new State(name);
    await state.migrate();
    await state.publish(this.catalog);
    const apiKey = key({ scopes: `${SCOPES} connections:call`, account: name });
    this.server = await Server.start(state, {
      name,
      variables: { LOCAL_TARGETS: "allow", CALL_EVENTS: "none" },
      secrets: { SESSION_SECRET, VAULT_KEYS: `tests:${VAULT_KEY}` },
    });
    this.opened = await state.open();
    await store(this.opened.vault, [apiKey]);
    this.app = new App(() => this.server, apiKey);
    return this;
  }

  /** Connects an account. Returns a function that runs an action with it. */
  async connect(platform, identity = "ann") {
    const connection = { platform, identity, identityType: "user" };
    const { id } = await this.app.expect(201, "POST", "/v1/vault/connections", connection);
    const path = `/v1/vault/connections/${id}`;
    await this.app.expect(204, "PUT", `${path}/credentials`, { type: "bearer", token: "good" });
    return (action, input) => this.app.call("POST", `${path}/actions/${encodeURIComponent(action.key)}`, input);
  }

  async stop() {
    await this.server?.stop();
    await this.opened?.close();
  }
}
