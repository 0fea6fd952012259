// What the tests of the catalog's views find in them, held against what the API answers.
import assert from "node:assert/strict";
import { query } from "./vault.mjs";

/** As many connectors and actions as a page has. */
export const CONNECTORS = 48;
const ACTIONS = 25;

/** @param {{ console: import("./console.mjs").Console }} world */
export function catalogOf(world) {
  const ask = async (path, filter) => (await world.console.caller().send("GET", `${path}?${query(filter)}`)).json;
  const connectors = (filter = {}) => ask("/v1/available-connectors", { limit: CONNECTORS, ...filter });
  const actions = (filter = {}) => ask("/v1/available-actions/github", { limit: ACTIONS, ...filter });
  const textsIn = (page, list, part) => page.getByRole("list", { name: list }).locator(part).allTextContents();
  /** Waits until a list says that it has so many. */
  const counted = (page, total, word) =>
    page
      .getByRole("status")
      .filter({ hasText: new RegExp(`^${total.toLocaleString("en")} ${word}s?$`) })
      .waitFor();

  /** Waits for a filter's answer, and asserts that it is what is shown. */
  async function expectCards(page, filter) {
    const { rows, total } = await connectors(filter);
    await counted(page, total, "connector");
    await page.locator("[aria-busy=true]").waitFor({ state: "detached" });
    assert.deepEqual(
      await textsIn(page, "Connectors", ".connector-name"),
      rows.map(({ name }) => name),
    );
    return { rows, total };
  }

  async function expectActions(page, filter) {
    const { rows, total } = await actions(filter);
    await counted(page, total, "action");
    await page.locator("[aria-busy=true]").waitFor({ state: "detached" });
    assert.deepEqual(
      await textsIn(page, "Actions", ".action-title"),
      rows.map(({ title }) => title),
    );
    return { rows, total };
  }

  return { connectors, actions, counted, expectCards, expectActions };
}
