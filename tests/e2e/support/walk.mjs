// Reads all pages of a list, and checks the invariants of paging.
import assert from "node:assert/strict";
import { expectPage } from "./expect.mjs";

/**
 * All rows of a list, page by page.
 * @param {(path: string) => Promise<import("./http.mjs").HttpResponse>} get
 */
export async function walk(get, path, limit = 500) {
  const rows = [];
  let total;
  for (let page = 1; ; page += 1) {
    const envelope = expectPage(await get(`${path}${path.includes("?") ? "&" : "?"}limit=${limit}&page=${page}`), {
      page,
    });
    total ??= envelope.total;
    assert.deepEqual([envelope.total, envelope.pages], [total, Math.ceil(total / limit)]);
    assert.equal(envelope.rows.length, Math.max(0, Math.min(limit, total - limit * (page - 1))));
    rows.push(...envelope.rows);
    if (page > envelope.pages) break;
  }
  assert.equal(rows.length, total);
  assert.equal(new Set(rows.map((row) => row.key)).size, total, "no row twice");
  return rows;
}

/** Asserts the order of a list: by `field` ignoring case, then by key. */
export function expectOrder(rows, field) {
  const bytes = (text) => Buffer.from(text);
  rows.slice(1).forEach((row, i) => {
    const before = rows[i];
    const order =
      bytes(before[field].toLowerCase()).compare(bytes(row[field].toLowerCase())) ||
      bytes(before.key).compare(bytes(row.key));
    assert.equal(order, -1, `${before.key} before ${row.key}`);
  });
}
