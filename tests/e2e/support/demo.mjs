// The demo platform of `npm start`, for tests that start it themselves.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { CLIENT, SCOPES } from "../../../scripts/demo-notes/oauth.mjs";
import { DemoNotes } from "../../../scripts/demo-notes/server.mjs";
import { Visitor, agree, openCallback } from "./connecting.mjs";
import { cli } from "./workspace.mjs";

/** The path of the demo platform's catalog in a storage. */
export const LOCAL_CATALOG = join("v3", "local-catalog");

/** Starts the platform with its state in a storage, for a service at a port. */
export async function startDemo(state, port) {
  const file = join(state.path, "v3", "demo-notes.json");
  // Uses the same port again, because the connector's URLs contain it.
  const { port: own } = JSON.parse(readFileSync(file, "utf8"));
  const demo = await DemoNotes.start({ file, ports: [own] });
  demo.register(`http://127.0.0.1:${port}`);
  return demo;
}

/** Sets the same OAuth client as `npm start`. */
export const setDemoClient = (...place) =>
  cli(
    ...["clients", "set", "demo-notes", "--account", "demo", "--environment", "test", "--client-id", CLIENT.id],
    ...["--no-secret", ...Object.keys(SCOPES).flatMap((scope) => ["--scope", scope]), ...place],
  );

/** Opens a connect link, and grants all scopes as Ada. */
export async function connectAsAda(link) {
  const visitor = new Visitor();
  const address = await agree(visitor, link);
  const scopes = Object.keys(SCOPES).map((scope) => ["scope", scope]);
  const body = new URLSearchParams([["answer", "allow"], ["person", "ada"], ...scopes]);
  const headers = { origin: new URL(address).origin };
  const response = await fetch(address, { method: "POST", headers, body, redirect: "manual" });
  assert.equal(response.status, 303, await response.text());
  const page = await openCallback(visitor, response.headers.get("location"));
  assert.equal(page.status, 200);
}
