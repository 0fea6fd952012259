// Shared code of the tests of the package's lists.
import { Recorder } from "./package.mjs";
import { query } from "./vault.mjs";

export const CONNECTORS = "/v1/available-connectors";
export const ACTIONS = "/v1/available-actions";

/** Encodes filters as a query string. */
export const asQuery = (filters) =>
  query(
    Object.fromEntries(
      Object.entries(filters)
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => [name, String(value)]),
    ),
  );
export const envelope = ({ rows, total, pages, page }) => ({ rows, total, pages, page });

export const rowsOf = async (list) => {
  const rows = [];
  for await (const row of list) rows.push(row);
  return rows;
};

/** All rows of a list over plain HTTP, page by page. */
export async function allRows(fixture, apiKey, path, filters = {}) {
  const rows = [];
  for (let page = 1; ; page += 1) {
    const { json } = await fixture.plain(apiKey, `${path}?${asQuery({ ...filters, limit: 500, page })}`);
    rows.push(...json.rows);
    if (page >= json.pages) return rows;
  }
}

/** A client whose requests are recorded: { recorder, client }. */
export function recordingClient(fixture, apiKey, options) {
  const recorder = new Recorder();
  return { recorder, client: fixture.vault(apiKey, { fetch: recorder.fetch, ...options }) };
}
