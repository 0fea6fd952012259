// Helpers for tests of the catalog's views, which compare them with the API's responses.
import assert from "node:assert/strict";
import { query } from "./vault.mjs";

/** The page sizes of connectors and actions. */
export const CONNECTORS = 48;
const ACTIONS = 25;

/** @param {{ console: import("./console.mjs").Console }} fixture */
export function catalogHelpers(fixture) {
  // The catalog and its connections do not change while these tests run.
  const known = new Map();
  const sendRequest = async (path, filter) => {
    const address = `${path}?${query(filter)}`;
    if (!known.has(address)) known.set(address, (await fixture.console.caller().send("GET", address)).json);
    return known.get(address);
  };
  const connectors = (filter = {}) => sendRequest("/v1/available-connectors", { limit: CONNECTORS, ...filter });
  const actions = (filter = {}) => sendRequest("/v1/available-actions/github", { limit: ACTIONS, ...filter });
  const textsIn = (page, list, part) => page.getByRole("list", { name: list }).locator(part).allTextContents();
  /** Waits until a list announces this count. */
  const waitForCount = (page, total, word) =>
    page
      .getByRole("status")
      .filter({ hasText: new RegExp(`^${total.toLocaleString("en")} ${word}s?$`) })
      .waitFor();

  /** Waits for a filter's response, and asserts that the page shows it. */
  async function expectCards(page, filter) {
    const { rows, total } = await connectors(filter);
    await waitForCount(page, total, "connector");
    await page.locator("[aria-busy=true]").waitFor({ state: "detached" });
    assert.deepEqual(
      await textsIn(page, /^Connectors$/, ".connector-name"),
      rows.map(({ name }) => name),
    );
    return { rows, total };
  }

  /** Waits for the page without a search, and asserts that it is complete and shows highlights first. */
  async function expectKnown(page) {
    const { rows: all, total } = await connectors({ limit: 500 });
    assert.equal(all.length, total);
    await waitForCount(page, total, "connector");
    const nameOf = (name) => all.find(({ platform }) => platform === name)?.name;
    const { platforms } = await sendRequest("/v1/vault/summary", {});
    const { rows: enabled } = await connectors({ authkit: "true" });
    const connected = platforms.map(({ platform }) => nameOf(platform)).filter(Boolean);
    const offered = enabled.map(({ name }) => name).filter((name) => !connected.includes(name));
    const isGoogle = ({ platform, name }) => platform.startsWith("googleapis-") || name.startsWith("Google ");
    const googles = all.filter(isGoogle).length;
    const remaining = all.filter((row) => !isGoogle(row) && ![...connected, ...offered].includes(row.name));
    await page.getByRole("list", { name: "Connectors", exact: true }).waitFor();
    const namesIn = (list) => textsIn(page, list, ".connector-name");
    assert.ok(connected.length > 0 && offered.length > 0 && googles > CONNECTORS && remaining.length > 0);
    assert.deepEqual(await namesIn("Connected"), connected);
    assert.deepEqual(await namesIn("Enabled for hosted authorization"), offered);
    assert.deepEqual(await namesIn("Families"), ["Google"]);
    assert.deepEqual(await textsIn(page, "Families", ".muted"), [`${googles} connectors`]);
    assert.deepEqual((await namesIn(/^Connectors$/)).sort(), remaining.map(({ name }) => name).sort());
    return { connected, offered, googles, others: remaining };
  }

  async function expectActions(page, filter) {
    const { rows, total } = await actions(filter);
    await waitForCount(page, total, "action");
    await page.locator("[aria-busy=true]").waitFor({ state: "detached" });
    assert.deepEqual(
      await textsIn(page, "Actions", ".action-title"),
      rows.map(({ title }) => title),
    );
    return { rows, total };
  }

  return { connectors, actions, counted: waitForCount, expectCards, expectKnown, expectActions };
}
