// The end user's page: their connections, tags, disconnecting, and no operator features.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, test } from "node:test";
import { expectAccessible, expectAccessibleEverywhere, expectFocus, tabTo } from "../support/console.mjs";
import { newConnection, tagsOf } from "../support/console-connections.mjs";
import { linkFor } from "../support/console-session.mjs";
import { proof } from "../support/proof.mjs";

const STATES = { operational: "Working", degraded: "Interrupted", failed: "Stopped working", unknown: "Not checked" };
const GITHUB = "GitHub";

/** @param {{ console: import("../support/console.mjs").Console }} fixture */
export function consoleOwn(fixture) {
  const owner = () => fixture.console.caller(fixture.console.keys.maker);
  const connect = (identity, more = {}) => newConnection(owner(), { identity, label: randomUUID(), ...more });
  const newIdentity = () => `own-${randomUUID()}@example.com`;
  const cards = (page) => page.locator(".end-user-card");
  const button = (page, name) => page.getByRole("button", { name, exact: true });
  const visit = async (identity, use, { input, path = "", ...options } = {}) => {
    const link = await linkFor(fixture.console, identity, input);
    return fixture.console.visit(link.replace("#", `${path}#`), use, { as: null, ...options });
  };

  describe("an end user's page", () => {
    test("connects and reconnects if the link's scopes allow it", async () => {
      const identity = newIdentity();
      await connect(identity, { state: "failed" });
      const scopes = ["catalog:read", "connections:read", "connections:connect"];
      await visit(
        identity,
        async (page) => {
          await button(page, `Connect again: ${GITHUB}`).click();
          await page.waitForURL("**/connect");
          await page.getByText(`Are you ${identity}?`).waitFor();
          await page.goBack();
          await button(page, "Connect an account").click();
          await page.waitForURL("**/connect");
        },
        { input: { as: fixture.console.keys.connector, scopes } },
      );
    });

    test("shows the user's connections in plain words, and no operator features", async () => {
      const identity = newIdentity();
      for (const state of Object.keys(STATES))
        await connect(identity, { state, name: `my ${state}`, tags: [`tag-${state}`] });
      await connect(identity, { active: false, name: "my old one" });
      await connect(newIdentity());
      await visit(identity, async (page) => {
        await page.getByText("5 connections").waitFor();
        assert.equal(await cards(page).count(), 5);
        await cards(page).filter({ hasText: GITHUB }).nth(4).waitFor();
        for (const [state, word] of Object.entries(STATES)) {
          const text = await cards(page)
            .filter({ hasText: `my ${state}` })
            .innerText();
          assert.ok(text.includes(word) && text.includes(`tag-${state}`), text);
        }
        const failingRegion = page.getByRole("region", { name: "Needs attention" });
        assert.match(await failingRegion.innerText(), /my failed/);
        assert.equal(await cards(failingRegion).count(), 1);
        const off = page.getByRole("region", { name: "Switched off" });
        assert.match(await off.innerText(), /my old one/);
        assert.equal(await cards(off).count(), 1);
        const text = await page.locator("body").innerText();
        for (const word of [
          "key",
          "scope",
          "filter",
          "code",
          "curl",
          "API key",
          "Overview",
          "Connectors",
          "identity",
          "Add a record",
        ]) {
          assert.ok(!new RegExp(`\\b${word}\\b`, "i").test(text), word);
        }
        assert.equal(await page.locator("input, select, details, nav").count(), 0);
        assert.equal(await page.title(), "Your connections · connector-vault");
      });
    });

    test("changes tags, and discards changes only after confirmation", async () => {
      const identity = newIdentity();
      const { id } = await connect(identity, { tags: ["one"] });
      await visit(identity, async (page) => {
        const edit = button(page, `Edit tags of ${GITHUB}`);
        await edit.click();
        const dialog = page.getByRole("dialog", { name: GITHUB });
        await dialog.getByLabel("Add a tag").fill("two");
        await page.keyboard.press("Enter");
        await page.keyboard.press("Escape");
        await button(page, "Keep editing").click();
        await dialog.getByRole("button", { name: "Save tags" }).click();
        // The exact match excludes the text "are not saved." of the confirmation.
        await dialog.getByRole("status").getByText("Saved.", { exact: true }).waitFor();
        assert.deepEqual(await tagsOf(owner(), id), ["one", "two"]);
        await dialog.getByRole("button", { name: "Close" }).click();
        await dialog.waitFor({ state: "detached" });
        await cards(page).getByText("two", { exact: true }).waitFor();
        await expectFocus(edit);
        await edit.click();
        await dialog.getByLabel("Add a tag").fill("three");
        await page.keyboard.press("Escape");
        await page.getByRole("alertdialog").getByRole("button", { name: "Discard changes" }).click();
        await dialog.waitFor({ state: "detached" });
        assert.deepEqual(await tagsOf(owner(), id), ["one", "two"]);
      });
    });

    test("disconnects after confirmation", async () => {
      const identity = newIdentity();
      const { id, version } = await connect(identity);
      await visit(identity, async (page) => {
        const sent = [];
        page.on("request", (request) => request.method() === "DELETE" && sent.push(request.headers()["if-match"]));
        await button(page, `Disconnect ${GITHUB}`).click();
        await button(page, "Keep it").click();
        assert.deepEqual(sent, []);
        await button(page, `Disconnect ${GITHUB}`).click();
        await button(page, "Disconnect").click();
        await page.getByRole("status").getByText(`${GITHUB} is disconnected.`).waitFor();
        await page.getByText("Nothing is connected yet").waitFor();
        assert.deepEqual(sent, [`"${id}-${version}"`]);
        assert.equal((await owner().read(id)).status, 404);
        await expectFocus(page.getByRole("heading", { name: "Your connections" }));
      });
    });

    proof("asks again when the connection has changed", async () => {
      const identity = newIdentity();
      const { id } = await connect(identity);
      await visit(
        identity,
        async (page) => {
          await button(page, `Disconnect ${GITHUB}`).click();
          assert.equal(
            (await owner().sendJson("PATCH", `/v1/vault/connections/${id}`, { tags: ["theirs"] })).status,
            200,
          );
          await button(page, "Disconnect").click();
          await page.getByRole("alert").getByText("It was changed a moment ago").waitFor();
          assert.equal((await owner().read(id)).status, 200);
          await button(page, "Disconnect").click();
          await page.getByText("Nothing is connected yet").waitFor();
          assert.equal((await owner().read(id)).status, 404);
        },
        { expects: [412] },
      );
    });

    proof("reports that a connection was already disconnected", async () => {
      const identity = newIdentity();
      const { id } = await connect(identity);
      await visit(
        identity,
        async (page) => {
          await button(page, `Disconnect ${GITHUB}`).click();
          await owner().send("DELETE", `/v1/vault/connections/${id}`);
          await button(page, "Disconnect").click();
          await page.getByRole("status").getByText(`${GITHUB} was already disconnected.`).waitFor();
        },
        { expects: [404] },
      );
    });

    proof("explains an empty list", () =>
      visit(newIdentity(), async (page) => {
        await page.getByText("Nothing is connected yet").waitFor();
        await page.getByText("Go back to where you got this link").waitFor();
        await expectAccessible(page, "an empty page");
      }),
    );

    proof("offers only what the link's scopes allow", async () => {
      const identity = newIdentity();
      await connect(identity);
      await visit(
        identity,
        async (page) => {
          await cards(page).waitFor();
          assert.equal(await page.locator("main button").count(), 0);
          await page.getByRole("heading", { name: "Github" }).waitFor();
        },
        { input: { scopes: ["connections:read"] } },
      );
      await visit(
        identity,
        async (page) => {
          await page.getByText("This link has no access to connections").waitFor();
        },
        { input: { scopes: ["catalog:read"] } },
      );
    });

    proof("replaces every other address of the console", async () => {
      const identity = newIdentity();
      await connect(identity);
      await visit(identity, async (page) => {
        await cards(page).waitFor();
        for (const path of ["/", "/connectors", "/connectors/github"]) {
          await page.goto(fixture.console.baseUrl + path);
          await cards(page).waitFor();
          assert.equal(new URL(page.url()).pathname, "/connections");
        }
      });
    });

    proof("scrolls to the connection in the address, and reports one of another user as not found", async () => {
      const identity = newIdentity();
      const [mine, other] = [await connect(identity), await connect(newIdentity())];
      await visit(identity, (page) => page.locator(".end-user-card[data-selected]").waitFor(), {
        path: `/${mine.id}`,
      });
      await visit(
        identity,
        async (page) => {
          await page.getByText("This connection was not found.").waitFor();
          assert.ok(!(await page.locator("body").innerText()).includes(other.identity));
        },
        { path: `/${other.id}` },
      );
    });

    proof("loads many connections page by page", () =>
      visit(
        "many@example.com",
        async (page) => {
          await page.getByText("60 connections").waitFor();
          assert.equal(await cards(page).count(), 50);
          await button(page, "Show more").click();
          await cards(page).nth(59).waitFor();
          assert.equal(await button(page, "Show more").count(), 0);
        },
        { input: { scopes: ["connections:read"] } },
      ),
    );

    proof("shows a failure, and retries", async () => {
      const identity = newIdentity();
      await connect(identity);
      await visit(
        identity,
        async (page) => {
          await cards(page).waitFor();
          await page.route("**/v1/vault/**", (route) => route.abort("connectionrefused"));
          await page.reload();
          await page.getByRole("alert").getByText("The service can't be reached").waitFor();
          await page.unroute("**/v1/vault/**");
          await button(page, "Try again").click();
          await cards(page).waitFor();
        },
        { expects: ["ERR_CONNECTION_REFUSED"] },
      );
    });

    test("fits in both themes and on a phone, and can be used by keyboard", async () => {
      const identity = `${newIdentity()}-${"long".repeat(20)}`;
      await connect(identity, {
        name: "a-name-without-any-place-to-break-".repeat(3),
        tags: ["tag-".repeat(30), "two"],
        state: "failed",
      });
      await connect(identity, { active: false });
      await visit(identity, async (page) => {
        await cards(page).nth(1).waitFor();
        await cards(page).filter({ hasText: GITHUB }).nth(1).waitFor();
        await expectAccessibleEverywhere(page, "the cards", { others: [390] });
        await tabTo(page, button(page, `Edit tags of ${GITHUB}`).first());
        await page.keyboard.press("Enter");
        await page.getByRole("dialog", { name: GITHUB }).getByLabel("Add a tag").waitFor();
        await expectAccessibleEverywhere(page, "the tags");
        await page.keyboard.press("Escape");
        const desk = page.viewportSize();
        await page.setViewportSize({ width: 390, height: 844 });
        await tabTo(page, button(page, `Disconnect ${GITHUB}`).first());
        await page.keyboard.press("Enter");
        await page.getByRole("alertdialog", { name: `Disconnect ${GITHUB}?` }).waitFor();
        await page.setViewportSize(desk);
        await expectAccessibleEverywhere(page, "the question");
      });
    });
  });
}
