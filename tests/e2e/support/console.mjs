// The console in a real browser, served by the real Worker. Whenever a page is closed, it must have caused no error in
// the console, no uncaught error, no violation of the Content-Security-Policy, and no request to another host.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { openapiDirectory, root } from "../../../scripts/lib/paths.mjs";
import { launch } from "./browser.mjs";
import { key, store } from "./keys.mjs";
import { isProof } from "./proof.mjs";
import { connectionNumber } from "./seed.mjs";
import { Server } from "./server.mjs";
import { Caller, seed } from "./vault.mjs";
import { State, build, importCatalog } from "./workspace.mjs";

const DOCUMENTS = [
  join(root, "tests", "fixtures", "openapi", "good"),
  join(root, "tests", "fixtures", "planner.json"),
  join(openapiDirectory, "api", "github.com", "api.github.com.json"),
];
const GOOGLE = join(openapiDirectory, "api", "googleapis.com");
/** Popular Google services, and others with names similar to theirs or GitHub's. */
const SIMILAR_NAMES = ["calendar", "digitalassetlinks", "drive", "driveactivity", "drivelabels", "gmail"];
/** `DOCUMENTS`, and some documents of a provider with several services. */
export const SEVERAL_DOCUMENTS = [
  ...DOCUMENTS,
  ...[...SIMILAR_NAMES, "gmailpostmastertools"].map((name) => join(GOOGLE, `${name}.json`)),
];
/** `DOCUMENTS`, and all documents of a provider with hundreds of services. */
export const MANY_DOCUMENTS = [...DOCUMENTS, GOOGLE];
const AXE = readFileSync(join(root, "node_modules", "axe-core", "axe.min.js"), "utf8");
/** axe's rules for WCAG 2.2 AA, and its best practices. */
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
/** The axe rules whose result depends on the theme. */
const COLOUR_RULES = ["color-contrast", "link-in-text-block"];
/** The axe rules whose result depends on the window's width, if the same elements are shown at each width. */
const SIZE_RULES = ["target-size"];
/** The page's background in the light and the dark theme: of the console, and of the connect window. */
const BACKGROUNDS = { "rgb(255, 255, 255)": "rgb(17, 19, 26)", "rgb(246, 247, 250)": "rgb(25, 28, 38)" };
const PHONE_WIDTH = 390;
/** The path of the page that stays open in a reused context. It does not exist, so it loads nothing. */
export const EMPTY_PAGE = "/logos/none";
const TIMEOUT_MS = 15_000;

/** Connections of every kind, half of them to GitHub. */
export const CONNECTIONS = Array.from({ length: 130 }, (_, n) =>
  n % 2 ? connectionNumber(n) : { ...connectionNumber(n), platform: "github", identity: `user-${n}@example.com` },
);

/** Runs in the page before its own scripts. Sets a secret once, so that signing out has an effect. */
function prepare(secret) {
  document.addEventListener("securitypolicyviolation", (event) =>
    console.error(`Content-Security-Policy: ${event.violatedDirective}, ${event.blockedURI}`),
  );
  if (!secret || sessionStorage.getItem("test.given")) return;
  sessionStorage.setItem("test.given", "yes");
  sessionStorage.setItem("connector-vault.secret", secret);
}

const pendingRequests = new WeakMap();

/** Tracks a page's pending requests. */
function watchRequests(page) {
  const requests = new Set();
  pendingRequests.set(page, requests);
  page.on("request", (request) => requests.add(request));
  for (const end of ["requestfinished", "requestfailed"]) page.on(end, (request) => requests.delete(request));
}

/** Waits until all requests of a page have ended, and rendering the responses caused no new ones. */
export async function waitForRequests(page) {
  const requests = pendingRequests.get(page);
  const until = Date.now() + TIMEOUT_MS;
  for (let idleChecks = 0; idleChecks < 3; idleChecks = requests.size > 0 ? 0 : idleChecks + 1) {
    assert.ok(Date.now() < until, `requests are still pending: ${[...requests].map((request) => request.url())}`);
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))));
  }
}

/** Runs a check for each of several cases. Errors name their case. */
export async function withEach(cases, use) {
  for (const [name, ...rest] of cases) {
    try {
      await use(...rest);
    } catch (error) {
      error.message = `${name}: ${error.message}`;
      throw error;
    }
  }
}

/** A service with a catalog, keys and connections, and a browser. */
export class Console {
  /**
   * @param {{ name: string, documents?: string[], providers?: string[], connections?: object[], keys?: object, server?: object }} options
   *   `documents`: the catalog's OpenAPI documents; `providers`: the import's option for providers.toml; `keys`: in addition
   *   to `full`, `reader`, `catalogOnly` and `maker`; `server`: overrides of wrangler.toml
   */
  static async start({
    name,
    documents = DOCUMENTS,
    providers = ["--no-providers"],
    connections = CONNECTIONS,
    keys = {},
    server,
  }) {
    await build();
    const fixture = new Console();
    fixture.keys = {
      full: key(),
      reader: key({ scopes: "catalog:read connections:read" }),
      catalogOnly: key({ scopes: "catalog:read" }),
      maker: key({ scopes: "catalog:read connections:read connections:write sessions:create" }),
      ...keys,
    };
    const state = new State(`${name}-state`);
    await state.prepare(await importCatalog(name, ...documents, "--licence", "any", ...providers));
    fixture.opened = await state.open();
    try {
      await store(fixture.database, Object.values(fixture.keys));
      await seed(fixture.database, fixture.keys.full.row.account, connections);
      fixture.server = await Server.start(state, server);
      fixture.baseUrl = `http://127.0.0.1:${fixture.server.port}`;
      fixture.browser = await launch();
      return fixture;
    } catch (error) {
      await fixture.stop();
      throw error;
    }
  }

  async stop() {
    await this.browser?.close();
    await this.server?.stop();
    await this.opened?.close();
  }

  /** The origins that its pages may send requests to. */
  get origins() {
    return [this.baseUrl];
  }

  /** The database of the service, opened directly. */
  get database() {
    return this.opened.vault;
  }

  /** The API with a key, over plain HTTP. */
  caller(of = this.keys.full) {
    return new Caller(this, of);
  }

  /**
   * Expires the key of a page that was just opened, once all its requests have ended: a pending one would be rejected,
   * and end the session before the test starts.
   */
  async expire(of, page) {
    await waitForRequests(page);
    await this.database
      .prepare("UPDATE api_keys SET expires_at = ? WHERE id = ?")
      .bind(Date.now() - 1, of.row.id)
      .run();
  }

  async newKey(row) {
    const made = key(row);
    await store(this.database, [made]);
    return made;
  }

  /**
   * Opens a page, uses it, and asserts that it caused no errors except the expected ones.
   * @param {string} path
   * @param {(page: import("playwright-core").Page) => Promise<void>} use
   * @param {{
   *   as?: object, width?: number, height?: number, theme?: "light" | "dark", locale?: string, expects?: (string | number)[],
   *   browser?: import("playwright-core").Browser, isolated?: boolean,
   * }} [options]
   *   `as`: the key to sign in with, null for none; `expects`: response statuses and network errors that the test causes and
   *   the browser logs; `browser`: a browser other than the default; `isolated`: in a context of its own, which the test changes
   */
  async visit(path, use, options = {}) {
    const { expects = [] } = options;
    const context = await this.#context(options);
    const faults = [];
    const isExpected = (text) => expects.some((what) => text.includes(String(what)));
    // An event listener, because a route would disable the browser's cache and send each request through this process.
    const watch = (request) => {
      const { protocol, origin } = new URL(request.url());
      if (protocol.startsWith("http") && !this.origins.includes(origin))
        faults.push(`request to another host: ${request.method()} ${request.url()}`);
    };
    context.on("request", watch);
    const page = await context.newPage();
    watchRequests(page);
    page.on("console", (message) => {
      const text = message.text();
      if (!["error", "warning"].includes(message.type())) return;
      if (text.startsWith("Failed to load resource") && isExpected(text)) return;
      faults.push(`console ${message.type()}: ${text} (${message.location().url})`);
    });
    page.on("pageerror", (error) => faults.push(`page error: ${error.stack ?? error}`));
    page.on("requestfailed", (request) => {
      const reason = request.failure()?.errorText ?? "";
      // Cancelled requests are expected.
      if (reason !== "net::ERR_ABORTED" && !isExpected(reason))
        faults.push(`failed: ${request.method()} ${request.url()}: ${reason}`);
    });
    let hasPassed = false;
    try {
      await page.goto(new URL(path, this.baseUrl).href);
      await use(page).catch((error) => {
        error.message = [error.message, ...faults].join("\n");
        throw error;
      });
      assert.deepEqual(faults, []);
      hasPassed = true;
    } finally {
      // Without this, an intercepted request could fail after its test, and then fail the file instead of the test.
      const routeOwners = [context, ...context.pages()];
      await Promise.all(routeOwners.map((owner) => owner.unrouteAll({ behavior: "ignoreErrors" }).catch(unlessClosed)));
      context.off("request", watch);
      await this.#release(context, hasPassed);
    }
  }

  /** Free contexts, by their options. Reusing one saves half a second of processor time per page. */
  #contexts = new Map();

  async #context(options) {
    const {
      as = this.keys.full,
      width = 1280,
      height = 900,
      theme = "light",
      locale,
      browser,
      isolated = false,
    } = options;
    const kind = JSON.stringify([as?.secret, width, height, theme, locale]);
    const isShared = !isolated && !browser;
    const free = isShared && this.#contexts.get(kind)?.pop();
    if (free) return free;
    const context = await (browser ?? this.browser).newContext({
      viewport: { width, height },
      colorScheme: theme,
      locale,
      permissions: ["clipboard-read", "clipboard-write"],
      reducedMotion: "reduce",
    });
    context.setDefaultTimeout(TIMEOUT_MS);
    await context.addInitScript(prepare, as?.secret);
    // The context's event also covers popups.
    context.on("request", (request) =>
      this.visited?.push(`${request.url().split("#")[0]} from ${request.headers().referer}`),
    );
    if (isShared) {
      // The renderer process stays alive while one of its pages is open.
      const keepAlivePage = await context.newPage();
      await keepAlivePage.goto(new URL(EMPTY_PAGE, this.baseUrl).href);
      reusedContexts.set(context, { kind, keepAlivePage });
    }
    return context;
  }

  /** Closes a context, or clears its cookies and storage so that the next test can use it. */
  async #release(context, keeps) {
    const { kind, keepAlivePage } = reusedContexts.get(context) ?? {};
    if (!keeps || !kind) return context.close();
    const session = await context.newCDPSession(keepAlivePage);
    for (const origin of this.origins)
      await session.send("Storage.clearDataForOrigin", { origin, storageTypes: "local_storage,indexeddb" });
    await context.clearCookies();
    await context.setOffline(false);
    await session.detach();
    await Promise.all(context.pages().map((openPage) => openPage !== keepAlivePage && openPage.close()));
    this.#contexts.set(kind, [...(this.#contexts.get(kind) ?? []), context]);
  }
}

/** The contexts that are reused, each with its kind and a page that stays open. */
const reusedContexts = new WeakMap();

/** Ignores the error of a window that has closed itself. */
function unlessClosed(error) {
  if (!error.message.includes("has been closed")) throw error;
}

/** Runs some of axe's rules on the page, and asserts that there are no violations. */
async function expectRules(page, runOnly, what) {
  const isAxeLoaded = await page.evaluate(() => "axe" in window);
  if (!isAxeLoaded) await page.evaluate(AXE);
  const { faults, checked } = await page.evaluate(async (runOnly) => {
    // A modal dialog makes the rest of the page inert, so only the dialog is checked. The text of style sheets is not
    // loaded, since only experimental rules need it.
    const part = [...document.querySelectorAll("dialog:modal")].at(-1) ?? document;
    const options = { runOnly, resultTypes: ["violations"], preload: false };
    const { violations, passes } = await window.axe.run(part, options);
    const faults = violations.map(
      ({ id, help, nodes }) =>
        `${id}: ${help}\n${nodes.map(({ html, failureSummary }) => `  ${html}\n  ${failureSummary}`).join("\n")}`,
    );
    return { faults, checked: passes.map(({ id }) => id) };
  }, runOnly);
  assert.deepEqual(faults, [], what);
  assert.ok(checked.length > 0, `${what}: axe has checked nothing`);
  return checked;
}

/** Asserts that axe reports no violations on the page. */
export const expectAccessible = (page, what) => expectRules(page, { type: "tag", values: RULES }, what);

/** Shows the page in a theme, and runs the rules about colours. The page must be rendered in that theme's colours. */
async function expectColours(page, colorScheme, background, what) {
  await page.emulateMedia({ colorScheme });
  assert.equal(
    await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor),
    background,
    `${what}: the page does not have the background of the theme`,
  );
  const checked = await expectRules(page, { type: "rule", values: COLOUR_RULES }, what);
  assert.ok(checked.includes("color-contrast"), `${what}: no contrast was measured`);
}

/**
 * Asserts that the page fits and is accessible in both themes and at several widths: all rules of axe in the light theme,
 * those about colours in the dark one, and at each of `widths` that nothing overflows and targets are large enough. Restores
 * the page's theme and size. `npm test` does not check colours and sizes of targets in the dark theme and at other widths.
 * @param {import("playwright-core").Page} page
 * @param {string} what
 * @param {{
 *   widths?: (number | [number, number])[], parts?: import("playwright-core").Locator[], others?: number[],
 * }} [options]
 *   `widths`: window widths, or widths and heights; `parts`: dialogs, whose content must not overflow; `others`: the widths
 *   at which the page shows other elements than on a desktop, so that all rules and both themes are checked there, too
 */
export async function expectAccessibleEverywhere(page, what, { widths = [PHONE_WIDTH], parts = [], others = [] } = {}) {
  const sizes = widths.map((size) => [size].flat());
  assert.ok(others.every((other) => sizes.some(([width]) => width === other)));
  const desk = page.viewportSize();
  const expectPartsFit = async (where) => {
    await expectFits(page, where);
    for (const part of parts)
      assert.equal(
        await part.evaluate((box) => box.scrollWidth - box.clientWidth),
        0,
        `${where}: ${part} scrolls sideways`,
      );
  };
  // Without this, targets partly under the header would count as too small.
  const toTop = () => page.evaluate(() => scrollTo(0, 0));
  const light = await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const dark = BACKGROUNDS[light];
  assert.ok(dark, `${what}: the page must start in the light theme, but its background is ${light}`);
  await toTop();
  await expectAccessible(page, `${what}, light`);
  await expectPartsFit(what);
  if (isProof) await expectColours(page, "dark", dark, `${what}, dark`);
  for (const [width, height = desk.height] of sizes) {
    await page.setViewportSize({ width, height });
    await toTop();
    const where = `${what}, ${width} px`;
    await expectPartsFit(where);
    if (!isProof) continue;
    if (others.includes(width)) {
      await expectColours(page, "dark", dark, `${where}, dark`);
      await page.emulateMedia({ colorScheme: "light" });
      await expectAccessible(page, `${where}, light`);
    } else await expectRules(page, { type: "rule", values: SIZE_RULES }, where);
  }
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize(desk);
}

/** Asserts that the page does not scroll horizontally. */
export async function expectFits(page, what) {
  const [inner, outer] = await page.evaluate(() => [
    document.documentElement.scrollWidth,
    document.documentElement.clientWidth,
  ]);
  assert.ok(inner <= outer, `${what}: the content is ${inner} px wide, the window ${outer} px`);
}

/** Waits until an element has the focus. Many elements get it only after painting. */
export const expectFocus = (target) => target.and(target.page().locator(":focus")).waitFor();

/** Waits until a copy button reports success, and reads the clipboard. `within`: the button's container. */
export async function readCopied(within) {
  await within
    .getByRole("status")
    .filter({ hasText: /^Copied$/ })
    .waitFor();
  return within.page().evaluate(() => navigator.clipboard.readText());
}

/** Presses Tab until an element has the focus, and asserts that the focus is visible. */
export async function tabTo(page, target, maxSteps = 60) {
  for (let pressed = 0; pressed < maxSteps; pressed += 1) {
    await page.keyboard.press("Tab");
    if (!(await target.evaluate((element) => element === document.activeElement))) continue;
    const outline = await target.evaluate((element) => getComputedStyle(element).outlineStyle);
    assert.notEqual(outline, "none", `${target} shows no focus`);
    return;
  }
  assert.fail(`${target} can't be reached`);
}
