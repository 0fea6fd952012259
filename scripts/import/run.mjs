// Moves the connections of a file into the service, in batches, and reports each.
import { Problem } from "../lib/problem.mjs";
import { fit } from "./fit.mjs";
import { rowsOf } from "./formats.mjs";
import { targetOf } from "./platforms.mjs";

/** The maximum number of connections in a request, and its maximum size in bytes. */
const MAX_ITEMS = 20;
const MAX_BYTES = 1 << 20;
/** The size of a request without its connections, in bytes. */
const REQUEST_OVERHEAD = 64;

/** Converts text to a valid label: lower-case letters, digits and hyphens. */
const labelOf = (text) =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 64) || undefined;

/** Escapes text from a file, which may contain anything, for a terminal. */
const printable = (text) =>
  text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (letter) => `\\u{${letter.codePointAt(0).toString(16)}}`);

/**
 * The connection to send for a row, or the reason why none can be sent.
 * @param {import("./formats.mjs").Draft} draft
 */
async function toItem(draft, { format, map, service, identityType, label }) {
  const target = targetOf(format, draft.names, map);
  const connector = await service.connector(target.platform);
  if (!connector) {
    const name = draft.names[0];
    return {
      reason: `is for \`${printable(name)}\`, which is not in the catalog: map it to a platform in the file of --map`,
    };
  }
  const fitResult = fit(draft.credentials, connector, { ...target, authMethod: draft.authMethod ?? target.authMethod });
  if ("reason" in fitResult) return fitResult;
  const labels = { integration: draft.integration, connection: draft.connection };
  const { names: _, integration, connection, credentials, authMethod, leftOut, ...rest } = draft;
  const item = {
    ...rest,
    platform: connector.platform ?? target.platform,
    identityType: draft.identityType ?? identityType,
    label: draft.label ?? (labels[label] && labelOf(labels[label])) ?? "default",
    credentials: fitResult.credentials,
  };
  return { item, json: JSON.stringify(item), leftOut };
}

/**
 * The reason why the service would refuse a connection because of its OAuth client; undefined if there is none, or if the key
 * can't read the clients. Those platforms are added to `unchecked`.
 */
async function clientProblem({ platform, client, clientId, credentials }, service, unchecked) {
  if (credentials.type !== "oauth2") return undefined;
  const stored = await service.oauthClient(platform, client);
  if (stored === undefined) unchecked.add(platform);
  else if (stored === null) return "has no OAuth client in the service: set the one of the former service";
  else if (clientId !== undefined && stored.clientId !== clientId)
    return "was obtained with another OAuth client than the one in the service";
  return undefined;
}

/** The connections of one request, within its limits. */
class Batch {
  items = [];
  bytes = REQUEST_OVERHEAD;

  fits(json) {
    return this.items.length < MAX_ITEMS && this.bytes + Buffer.byteLength(json) < MAX_BYTES;
  }

  add(row) {
    this.items.push(row);
    this.bytes += Buffer.byteLength(row.json) + 1;
  }
}

/**
 * Runs an import. Returns the number of rows by outcome, the number of rows by what was left out of them, and the platforms
 * whose OAuth clients a dry run could not check.
 * @param {{ format: "nango" | "composio" | "csv", file: string, map: Record<string, import("./platforms.mjs").Target>,
 *   service: import("./service.mjs").Service, identityType: string, label: string, cutOver: boolean, dryRun: boolean }} options
 * @param {(line: string) => void} print
 */
export async function runImport(options, print) {
  const [counts, leftOut, unchecked] = [{}, {}, new Set()];
  const report = (outcome, { location, about, reason, id }) => {
    counts[outcome] = (counts[outcome] ?? 0) + 1;
    const details = [id, reason].filter(Boolean).join("  ");
    print(`${outcome.padEnd(9)}  ${location}${about ? `  ${printable(about)}` : ""}${details ? `  ${details}` : ""}`);
  };
  const send = async ({ items }) => {
    if (items.length === 0) return;
    const results = await options.service.import(
      items.map(({ json }) => json),
      options.cutOver,
    );
    if (results?.length !== items.length)
      throw new Problem("The service did not report each connection. Run the import again.");
    for (const [index, { outcome, connectionId, error }] of results.entries())
      report(outcome, {
        ...items[index],
        id: connectionId,
        reason: error ? printable(error.errors?.map(({ detail }) => detail).join("; ") ?? error.detail) : undefined,
      });
  };
  const locations = new Map();
  let batch = new Batch();
  for await (const row of rowsOf(options.format, options.file)) {
    if (!("draft" in row)) {
      report(row.outcome, row);
      continue;
    }
    const about = `${row.draft.names.at(-1)}  ${row.draft.identity}`;
    const result = await toItem(row.draft, options);
    if ("reason" in result) {
      report("failed", { location: row.location, about, reason: result.reason });
      continue;
    }
    const { item, json } = result;
    const batchItem = {
      location: row.location,
      about: `${item.platform}  ${item.identity}${item.label === "default" ? "" : `  ${item.label}`}`,
      json,
    };
    const key = JSON.stringify([item.platform, item.label, item.identity]);
    if (locations.has(key)) {
      const reason = `has the platform, label and identity of ${locations.get(key)}: distinguish them with --label integration or --label connection`;
      report("failed", { ...batchItem, reason });
      continue;
    }
    locations.set(key, row.location);
    if (Buffer.byteLength(json) + REQUEST_OVERHEAD >= MAX_BYTES) {
      report("failed", { ...batchItem, reason: "is larger than 1 MiB" });
      continue;
    }
    for (const name of result.leftOut ?? []) leftOut[name] = (leftOut[name] ?? 0) + 1;
    if (options.dryRun) {
      const reason = await clientProblem(item, options.service, unchecked);
      report(reason ? "failed" : "valid", { ...batchItem, reason });
      continue;
    }
    if (!batch.fits(json)) {
      await send(batch);
      batch = new Batch();
    }
    batch.add(batchItem);
  }
  await send(batch);
  return { counts, leftOut, unchecked: [...unchecked].sort() };
}
