// OAuth clients in the console: listing, setting and deleting.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { expectAccessible, expectAccessibleEverywhere, expectFocus, readCopied } from "../support/console.mjs";
import { button, heading } from "../support/connect.mjs";
import { proof } from "../support/proof.mjs";

const PATH = "/integrations";
const READ_SCOPES = "catalog:read connections:read";

/** @param {{ connect: import("../support/connect.mjs").ConnectConsole }} fixture */
export function consoleIntegrations(fixture) {
  const visit = (...args) => fixture.connect.visit(...args);
  const clientOf = async (platform) =>
    (await fixture.connect.caller().send("GET", `/v1/oauth-clients/${platform}`)).json;
  const card = (page, list, name) =>
    page.getByRole("list", { name: list, exact: true }).getByRole("listitem").filter({ hasText: name });
  const form = (page, name) => page.getByRole("dialog", { name });
  const save = (page) => button(page, "Save OAuth client").click();

  /** Deletes the client of the platform `both`, and restores it afterwards. */
  async function without(use) {
    await fixture.connect.caller().send("DELETE", "/v1/oauth-clients/both");
    try {
      await use();
    } finally {
      await fixture.connect.setClient("both");
    }
  }

  describe("integrations", () => {
    test("list missing OAuth clients, then existing ones, with the redirect URI", () =>
      without(() =>
        visit("/", async (page) => {
          await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Integrations" }).click();
          await expectFocus(heading(page, "Integrations"));
          await card(page, "Missing", "Both").getByRole("link", { name: "Set up Both" }).waitFor();
          const client = card(page, "OAuth clients", "Login");
          for (const text of ["the-app", "Stored", "openid"]) await client.getByText(text, { exact: true }).waitFor();
          await button(page, "Copy the redirect URI").click();
          assert.equal(await readCopied(page.getByRole("main")), `${fixture.connect.baseUrl}/connect/callback`);
          await expectAccessible(page, "integrations");
        }),
      ));

    proof("show missing clients after the catalog, and the catalog after them", () =>
      without(() =>
        visit("/connectors", async (page) => {
          const go = (name) => page.getByRole("navigation", { name: "Main" }).getByRole("link", { name }).click();
          const enabled = page.getByRole("region", { name: "Enabled for hosted authorization" });
          await enabled.waitFor();
          await go("Integrations");
          await card(page, "Missing", "Both").waitFor();
          await go("Connectors");
          await enabled.waitFor();
        }),
      ),
    );

    test("set the branding, which the connect window shows", () =>
      visit(PATH, async (page) => {
        const region = page.getByRole("region", { name: "Your app" });
        await region.getByText("as the service is configured").first().waitFor();
        await button(page, "Edit your app").click();
        const dialog = form(page, "Your app");
        await dialog.getByLabel("Name").fill("Zebra");
        const svg =
          "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 9 5'><rect width='9' height='5' fill='#a21caf'/></svg>";
        await dialog
          .getByLabel("Logo")
          .setInputFiles({ name: "logo.svg", mimeType: "image/svg+xml", buffer: Buffer.from(svg) });
        await dialog.getByRole("button", { name: "Remove the logo" }).waitFor();
        await dialog.getByLabel("Colour").fill("purple");
        await button(page, "Save").click();
        await expectFocus(dialog.getByLabel("Colour"));
        await dialog.getByLabel("Colour").fill("#a21caf");
        await expectAccessibleEverywhere(page, "the form of the branding", { parts: [dialog] });
        await button(page, "Save").click();
        await page.getByText("Your app was saved.").waitFor();
        await expectAccessibleEverywhere(page, "the branding");
        const { json } = await fixture.connect.caller().send("GET", "/v1/branding");
        assert.deepEqual([json.name, json.color, json.url], ["Zebra", "#a21caf", null]);
        assert.match(json.logo, /^data:image\/png;base64,/);
        try {
          await page.goto(`${fixture.connect.baseUrl}${await fixture.connect.path("ann", { platform: "keyed" })}`);
          await page.getByText("This connects your account to ann at Zebra.").waitFor();
          await page.locator("header img").evaluate((image) => image.decode());
          await expectAccessibleEverywhere(page, "the window with a branding");
        } finally {
          await fixture.connect.caller().sendJson("PUT", "/v1/branding", {});
        }
      }));

    test("set a missing client, change it without its secret, and delete it", () =>
      without(() =>
        visit(
          PATH,
          async (page) => {
            const dialog = form(page, "OAuth client for Both");
            await page.getByRole("link", { name: "Set up Both" }).click();
            await expectFocus(dialog.getByLabel("Client ID"));
            await page.keyboard.type("an-id");
            await page.keyboard.press("Tab");
            await page.keyboard.type("a-secret");
            await dialog.getByLabel("Scopes (optional)").fill("openid email ");
            await dialog.getByLabel("Scopes (optional)").pressSequentially("offline_access");
            await dialog.getByLabel("Authorization parameters (optional)").fill("prompt=consent\nhd=a=b\n");
            await expectAccessible(page, "the form");
            await save(page);
            await page.getByText("The OAuth client for Both was saved.").waitFor();
            const { redirectUri, createdAt, updatedAt, ...stored } = await clientOf("both");
            assert.deepEqual(stored, {
              platform: "both",
              name: "default",
              authMethod: null,
              clientId: "an-id",
              hasSecret: true,
              scopes: ["openid", "email", "offline_access"],
              authorizationParameters: { hd: "a=b", prompt: "consent" },
              variables: {},
              startUrl: null,
              pkce: null,
              rejectedSince: null,
            });
            assert.equal(new URL(page.url()).search, "");

            await page.getByRole("link", { name: "Edit Both" }).click();
            await dialog.getByText("A secret is stored. Leave this empty to keep it.").waitFor();
            assert.equal(await dialog.getByLabel("Client secret (optional)", { exact: true }).inputValue(), "");
            await dialog.getByRole("button", { name: "Remove email" }).click();
            await save(page);
            await dialog.waitFor({ state: "detached" });
            const changed = await clientOf("both");
            assert.deepEqual([changed.hasSecret, changed.scopes], [true, ["openid", "offline_access"]]);

            await page.getByRole("link", { name: "Edit Both" }).click();
            await dialog.getByLabel("Remove the stored secret").check();
            await save(page);
            await card(page, "OAuth clients", "Both").getByText("none", { exact: true }).waitFor();
            assert.equal((await clientOf("both")).hasSecret, false);

            await button(page, "Delete Both").click();
            const question = page.getByRole("alertdialog", { name: "Delete the OAuth client for Both?" });
            await question.waitFor();
            await expectAccessible(page, "the question");
            await button(question, "Keep it").click();
            await expectFocus(button(page, "Delete Both"));
            await button(page, "Delete Both").click();
            await button(question, "Delete OAuth client").click();
            await page.getByText("The OAuth client for Both was deleted.").waitFor();
            await card(page, "Missing", "Both").waitFor();
            assert.equal((await clientOf("both")).code, "oauth_client_not_found");
          },
          { expects: [404] },
        ),
      ));

    proof("set a second client of a platform, change it, and delete it", () =>
      visit(`${PATH}?set=both&new=1`, async (page) => {
        const dialog = form(page, "OAuth client for Both");
        await dialog.getByText("Both already has “default”.").waitFor();
        await dialog.getByLabel("Client ID").fill("a-bot");
        await dialog.getByLabel("Client secret", { exact: true }).fill("a-secret");
        await save(page);
        await expectFocus(dialog.getByLabel("Name"));
        await dialog.getByText("This is required.").waitFor();
        await dialog.getByLabel("Name").fill("default");
        await dialog.getByText("There is already a client with this name.").waitFor();
        await dialog.getByLabel("Name").fill("bot");
        await expectAccessible(page, "the form of a second client");
        await save(page);
        await page.getByText(/^The OAuth client “bot” for Both was saved\./).waitFor();
        const readNamed = () => fixture.connect.caller().send("GET", "/v1/oauth-clients/both?name=bot");
        assert.equal((await readNamed()).json.clientId, "a-bot");

        await page.getByRole("link", { name: "Edit Both, bot" }).click();
        const edited = form(page, "OAuth client “bot” for Both");
        await edited.getByText("A secret is stored. Leave this empty to keep it.").waitFor();
        assert.equal(new URL(page.url()).search, "?set=both&client=bot");
        await edited.getByLabel("Scopes (optional)").fill("openid");
        await save(page);
        await edited.waitFor({ state: "detached" });
        assert.deepEqual((await readNamed()).json.scopes, ["openid"]);
        assert.notEqual((await clientOf("both")).clientId, "a-bot");

        await button(page, "Delete Both, bot").click();
        await button(page, "Delete OAuth client").click();
        await page.getByText("The OAuth client “bot” for Both was deleted.").waitFor();
        assert.equal((await readNamed()).status, 404);
      }),
    );

    test("choose a platform by keyboard, and show errors next to the field", () =>
      without(() =>
        visit(PATH, async (page) => {
          await button(page, "New OAuth client").click();
          await expectFocus(form(page, "New OAuth client").getByRole("combobox", { name: "Platform" }));
          await page.keyboard.type("bot");
          await page.getByRole("option", { name: "Both" }).waitFor();
          await page.keyboard.press("Enter");
          const dialog = form(page, "OAuth client for Both");
          await dialog.getByLabel("Client ID").waitFor();
          await dialog.getByLabel("Authorization parameters (optional)").fill("state=x");
          await save(page);
          await expectFocus(dialog.getByLabel("Client ID"));
          await dialog.getByText("This is required.").waitFor();
          await dialog.getByText("state: This is set by the service and can't be overridden.").waitFor();
          await dialog.getByLabel("Authorization parameters (optional)").fill("");
          await dialog.getByLabel("Client ID").fill("an-id");
          await page.keyboard.press("Enter");
          await dialog.getByText("Both needs the client's secret.").waitFor();
          await dialog.getByLabel("Client secret", { exact: true }).fill("a-secret");
          await page.keyboard.press("Enter");
          await page.getByText(/^The OAuth client for Both was saved\./).waitFor();
          assert.deepEqual((await clientOf("both")).authorizationParameters, {});
          await page.getByRole("link", { name: "Connect an account" }).click();
          await heading(page, "Both").waitFor();
        }),
      ));

    proof("explain an unknown platform, and one without OAuth", () =>
      visit(
        `${PATH}?set=logn`,
        async (page) => {
          await page.getByText("The catalog has no platform “logn”").waitFor();
          await page.getByRole("dialog").getByRole("link", { name: "login", exact: true }).click();
          await form(page, "OAuth client for Login").getByLabel("Client ID").waitFor();
          await page.keyboard.press("Escape");
          await page.goto(`${fixture.connect.baseUrl}${PATH}?set=keyed`);
          await page.getByText("Keyed does not use OAuth, so it needs no client.").waitFor();
        },
        { expects: [404] },
      ),
    );

    proof("are read-only or hidden, depending on the key's scopes", async () => {
      const reader = await fixture.connect.newKey({ scopes: `${READ_SCOPES} clients:read` });
      await visit(
        `${PATH}?set=login`,
        async (page) => {
          await card(page, "OAuth clients", "Login").getByText("the-app").waitFor();
          await page.getByText("Your key can read OAuth clients, but not change them.").waitFor();
          assert.equal(await page.getByRole("dialog").count(), 0);
          for (const name of ["New OAuth client", "Delete Login"]) assert.equal(await button(page, name).count(), 0);
          assert.equal(await page.getByRole("link", { name: "Edit Login" }).count(), 0);
        },
        { as: reader },
      );
      await visit(
        PATH,
        async (page) => {
          await page.getByText("Your key can't read OAuth clients").waitFor();
          await page.getByText("clients:read", { exact: true }).waitFor();
          await expectAccessible(page, "a key that cannot read clients");
        },
        { as: await fixture.connect.newKey({ scopes: READ_SCOPES }) },
      );
    });

    test("fit and are accessible in both themes and at each width", () =>
      visit(`${PATH}?set=both`, async (page) => {
        const widths = [320, 390];
        const dialog = form(page, "OAuth client for Both");
        await dialog.getByLabel("Client ID").waitFor();
        await expectAccessibleEverywhere(page, "the form", { widths, parts: [dialog], others: [390] });
        await page.keyboard.press("Escape");
        await card(page, "OAuth clients", "Login").waitFor();
        await expectAccessibleEverywhere(page, "the list", { widths, others: [390] });
      }));
  });
}
