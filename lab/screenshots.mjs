// `npm run screenshots`: takes screenshots of the site, into docs/screenshots/. Needs a running service:
//
//   npm start                                              # in another terminal; prints a key
//   KEY=sk_test_… npm run screenshots [-- http://localhost:8787]
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { root } from "../scripts/lib/paths.mjs";
import { main, Problem } from "../scripts/lib/problem.mjs";
import { log, task } from "../scripts/lib/status.mjs";
import { setup } from "../scripts/setup.mjs";
import { browserPrograms } from "../scripts/setup/browser.mjs";
import { fonts } from "../scripts/setup/fonts.mjs";

const folder = join(root, "docs", "screenshots");
const SESSION_STORAGE_KEY = "connector-vault.secret";
const HEIGHTS = { 390: 844, 1280: 800, 1920: 1080 };
// The dark theme at one width is sufficient.
const THEMES = [
  [390, "light"],
  [1280, "light"],
  [1280, "dark"],
  [1920, "light"],
];
/** Confirms the identity, for which a window asks first unless an app has opened it. */
const confirm = (page) => page.getByRole("button", { name: /^Continue as / }).click();
/** The views, and how to open them. Some pages need no key; the connect window needs a token. */
const VIEWS = {
  "sign-in": { path: "/", anonymous: true },
  overview: { path: "/" },
  connectors: { path: "/connectors" },
  connector: { path: "/connectors/github?method=POST&q=pull+request" },
  action: { path: "/connectors/github/actions/pullsCreate" },
  connections: { path: "/connections?platform=github" },
  connection: {
    path: "/connections?platform=github",
    then: async (page) => {
      await page.locator("tbody a").first().click();
      // Wait for the connection to load; a grey placeholder is shown until then.
      await page.getByRole("dialog").locator("dl").first().waitFor();
      await page.locator(".skeleton").first().waitFor({ state: "hidden" });
    },
  },
  "new-connection": {
    path: "/connections?platform=github",
    then: (page) => page.getByRole("button", { name: "Add a record" }).click(),
  },
  integrations: { path: "/integrations" },
  window: {
    path: "/connect",
    token: true,
    then: async (page) => {
      await confirm(page);
      await page.getByRole("list", { name: "Platforms" }).waitFor();
    },
  },
  "window-form": {
    path: "/connect",
    token: { platform: "aws-lambda" },
    then: async (page) => {
      await confirm(page);
      await page.getByRole("heading", { level: 1, name: /^Connect / }).waitFor();
    },
  },
  reference: { path: "/docs", anonymous: true, then: (page) => page.locator(".opblock").first().waitFor() },
  problem: { path: "/problems/precondition_failed", anonymous: true },
};

/** The fragment of the connect window's URL. */
async function windowFragment(address, key, more) {
  const response = await fetch(`${address}/v1/sessions`, {
    method: "POST",
    headers: { "x-service-secret": key, "content-type": "application/json" },
    body: JSON.stringify({
      identity: "ann@example.com",
      scopes: ["catalog:read", "connections:read", "connections:connect"],
    }),
  });
  const { token, detail } = await response.json();
  if (!token) throw new Problem(`The token for the connect window could not be created: ${detail}`);
  return `#${new URLSearchParams({ token, ...more })}`;
}

async function takeScreenshot(browser, address, key, name, { path, anonymous, token, then }, [width, colorScheme]) {
  const context = await browser.newContext({
    viewport: { width, height: HEIGHTS[width] },
    colorScheme,
    reducedMotion: "reduce",
  });
  try {
    const page = await context.newPage();
    const hash = token ? await windowFragment(address, key, token === true ? {} : token) : "";
    if (!anonymous && !token)
      await page.addInitScript(([place, secret]) => sessionStorage.setItem(place, secret), [SESSION_STORAGE_KEY, key]);
    await page.goto(address + path + hash, { waitUntil: "networkidle" });
    await then?.(page);
    await page.waitForLoadState("networkidle");
    await page.screenshot({ path: join(folder, `${name}-${width}-${colorScheme}.png`) });
  } finally {
    await context.close();
  }
}

await main(async () => {
  const address = (process.argv[2] ?? "http://localhost:8787").replace(/\/$/, "");
  const key = process.env.KEY;
  if (!key)
    throw new Problem("`KEY` is not set.", {
      hint: "`npm start` prints a demo key: KEY=sk_test_… npm run screenshots",
    });
  await setup({ withBrowser: true });
  await fonts();
  const response = await fetch(`${address}/health`).catch(() => undefined);
  if (!response?.ok)
    throw new Problem(`There is no service at ${address}.`, {
      hint: "Start the service in another terminal: npm start",
    });
  mkdirSync(folder, { recursive: true });
  // Imported here, because the set-up may have installed the package just now.
  const { chromium } = await import("playwright-core");
  const browser = await chromium.launch({ executablePath: browserPrograms().chromium, chromiumSandbox: false });
  try {
    await task("screenshots", async (detail) => {
      for (const [name, view] of Object.entries(VIEWS)) {
        for (const theme of THEMES) {
          detail(`${name} ${theme.join(" ")}`);
          await takeScreenshot(browser, address, key, name, view, theme);
        }
      }
    });
  } finally {
    await browser.close();
  }
  log(`They are in ${folder}.`);
});
