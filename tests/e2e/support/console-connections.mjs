// Helpers for tests of the list of connections.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { expectConnection, expectConnections } from "./vault.mjs";

export const PAGE_SIZE = 25;
export const PATH = "/connections";
export const at = (id) => `${PATH}/${id}`;

/** Ids of the connections in the table, from the top. */
export const shownRows = (page) =>
  page.locator("tbody a[data-connection]").evaluateAll((links) => links.map((link) => link.dataset.connection));

/** Waits until the table shows exactly these connections, in this order. */
export async function expectRows(page, ids) {
  const are = (expected) =>
    JSON.stringify(
      [...document.querySelectorAll("tbody a[data-connection]")].map((link) => link.dataset.connection),
    ) === JSON.stringify(expected);
  await page.waitForFunction(are, ids).catch(async () => assert.deepEqual(await shownRows(page), ids));
}

const TAG_CHIPS = 'dialog.drawer ul[aria-label="Tags"] li > span:first-child';

/** Waits until the panel shows exactly these tags, in this order. */
async function expectChips(page, tags) {
  const are = ({ selector, wanted: expected }) =>
    JSON.stringify([...document.querySelectorAll(selector)].map((chip) => chip.textContent)) ===
    JSON.stringify(expected);
  await page
    .waitForFunction(are, { selector: TAG_CHIPS, wanted: tags })
    .catch(async () => assert.deepEqual(await page.locator(TAG_CHIPS).allTextContents(), tags));
}

/** The API's response to a filter, as the table should show it. */
export async function fetchExpected(caller, filter = {}) {
  const { rows, ...page } = expectConnections(await caller.list({ limit: PAGE_SIZE, ...filter }));
  return { ...page, rows, ids: rows.map(({ id }) => id) };
}

/** A new connection to GitHub that no other test uses. */
export async function newConnection(caller, more = {}) {
  const value = {
    platform: "github",
    identity: `someone-${randomUUID()}`,
    identityType: "user",
    tags: ["one", "two"],
    ...more,
  };
  return expectConnection(await caller.create(value), {}, { status: 201, headers: undefined }).connection;
}

/** Reads a connection's tags from the API. */
export const tagsOf = async (caller, id) => (await caller.read(id)).json.tags;

/** Selects a platform by keyboard: types text, and takes the first suggestion. */
export async function choosePlatform(scope, text) {
  const field = scope.getByRole("combobox", { name: "Platform", exact: true });
  await field.fill(text);
  await scope.getByRole("listbox", { name: "Platforms" }).getByRole("option").first().waitFor();
  await field.press("Enter");
}

/** Returns locators and helpers for the panel of a connection. */
export function panelHelpers(page) {
  const panel = page.locator("dialog.drawer");
  return {
    panel,
    field: panel.getByLabel("Add a tag"),
    save: panel.getByRole("button", { name: "Save tags" }),
    expectChips: (tags) => expectChips(page, tags),
    expectStatus: (text) => panel.getByRole("status").filter({ hasText: text }).first().waitFor(),
    closed: () => panel.waitFor({ state: "detached" }),
    opened: () => panel.getByLabel("Add a tag").waitFor(),
  };
}

/** The parameters in the address, and the id of the open connection. */
export function addressParams(page) {
  const { pathname, searchParams } = new URL(page.url());
  const connection = pathname.slice(at("").length);
  return { ...Object.fromEntries(searchParams), ...(connection && { connection }) };
}
