// Helpers for tests of sessions: links as an operator's backend creates them, and places where a browser might store a
// secret.
import assert from "node:assert/strict";

export const SECRET = "connector-vault.secret";
const DEFAULT_SCOPES = ["catalog:read", "connections:read", "connections:write"];

/** A token for an identity, created by the service. */
export async function tokenFor(fixture, identity, { as = fixture.keys.maker, ...input } = {}) {
  const made = await fixture
    .caller(as)
    .sendJson("POST", "/v1/sessions", { identity, scopes: DEFAULT_SCOPES, ...input });
  assert.equal(made.status, 201, made.text);
  return made.json.token;
}

export const linkFor = async (fixture, identity, request) =>
  `/connections#token=${await tokenFor(fixture, identity, request)}`;

/** The secret that the tab stores. */
export const storedSecret = (page) => page.evaluate((place) => sessionStorage.getItem(place), SECRET);

/** Asserts that a secret is in no place that is shared or outlives the tab. */
export async function expectHidden(page, secret) {
  const places = await page.evaluate(async () => [
    location.href,
    JSON.stringify(history.state),
    JSON.stringify(localStorage),
    document.cookie,
    document.title,
    document.documentElement.outerHTML,
    JSON.stringify(await indexedDB.databases()),
    JSON.stringify(await caches.keys()),
    JSON.stringify((await navigator.locks.query()).held),
  ]);
  for (const place of places) assert.ok(!place.includes(secret.slice(8)), place.slice(0, 200));
}

export const signIn = async (page, { secret }) => {
  await page.getByLabel("API key", { exact: true }).fill(secret);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
};

export const heading = (page, name) => page.getByRole("heading", { level: 1, name, exact: true });
