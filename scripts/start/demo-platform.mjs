// Runs the demo platform, to which users can connect without registering an app. It runs in the process of `npm start`. Its
// connector is published to local storage only, and the demo account has an OAuth client for it.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PLATFORM, openApi, overrides } from "../demo-notes/description.mjs";
import { CLIENT, SCOPES } from "../demo-notes/oauth.mjs";
import { DemoNotes } from "../demo-notes/server.mjs";
import { fingerprint, hashOf, isStamped, stamp } from "../lib/fingerprint.mjs";
import { run } from "../lib/run.mjs";
import { task } from "../lib/status.mjs";

/** The catalog that each publish to this storage includes; `LOCAL_CATALOG` in src/operator/publish.rs. */
const catalogIn = (state) => join(state, "v3", "local-catalog");
/** The file with the platform's state. It is next to the database, so that both are deleted together. */
const fileIn = (state) => join(state, "v3", "demo-notes.json");

/** The path of the catalog with the demo platform; undefined if this storage has none. */
export function localCatalog(state) {
  const current = join(catalogIn(state), "current.json");
  return existsSync(current) ? current : undefined;
}

export async function startPlatform({ state, demoPort }) {
  const demo = await DemoNotes.start({ file: fileIn(state), ports: demoPort === undefined ? undefined : [demoPort] });
  // Without this, the open server would keep the process running if a later step of the start fails.
  demo.server.unref();
  return demo;
}

/** Removes the demo platform's connector, so that later publishes to this storage don't include it. */
export const removeConnector = (state) => rmSync(catalogIn(state), { recursive: true, force: true });

/** Imports the connector of the platform, unless an earlier start has imported it with the same address. */
export async function importConnector(program, { state }, { origin }) {
  const stampFile = join(catalogIn(state), ".imported");
  const [document, config] = [JSON.stringify(openApi(origin)), overrides(origin)];
  const digest = fingerprint([], [document, config, hashOf(program)]);
  if (localCatalog(state) && isStamped(stampFile, digest)) return;
  const sources = mkdtempSync(join(tmpdir(), "connector-vault-demo-"));
  try {
    const [documentFile, configFile] = [join(sources, `${PLATFORM}.json`), join(sources, "catalog.toml")];
    writeFileSync(documentFile, document);
    writeFileSync(configFile, config);
    const options = ["--licence", "any", "--no-providers", "--config", configFile, "--out", catalogIn(state)];
    await run(program, ["catalog", "import", documentFile, ...options]);
  } finally {
    rmSync(sources, { recursive: true, force: true });
  }
  stamp(stampFile, digest);
}

/** Sets the demo account's OAuth client once, and not again after a user has removed it. */
export async function setClient(program, { state, storageArgs }) {
  // Kept in the database's folder, so that deleting the database deletes this record, too.
  const stampFile = join(state, "v3", "d1", ".demo-client");
  if (existsSync(stampFile)) return;
  const scopes = Object.keys(SCOPES).flatMap((scope) => ["--scope", scope]);
  const options = ["--account", "demo", "--environment", "test", "--client-id", CLIENT.id, "--no-secret", ...scopes];
  await task("OAuth client of the demo account for Demo Notes", (detail) =>
    run(program, ["clients", "set", PLATFORM, ...options, ...storageArgs], { detail }),
  );
  stamp(stampFile, CLIENT.id);
}
