// Opens pages of the console in headless Chromium, and measures their loaded files and load times.

/** Lighthouse's slow 4G and mid-tier phone. */
export const PHONE = {
  viewport: { width: 390, height: 844 },
  network: {
    offline: false,
    latency: 150,
    downloadThroughput: (1.6 * 1024 * 1024) / 8,
    uploadThroughput: (750 * 1024) / 8,
  },
  cpu: 4,
};
const SESSION_STORAGE_KEY = "connector-vault.secret";
const TIMEOUT_MS = 30_000;

/** The kind of file in a response. */
function kindOf({ mimeType, url }) {
  if (new URL(url).pathname.startsWith("/v1/")) return "API";
  return (
    {
      "text/html": "html",
      "text/javascript": "js",
      "text/css": "css",
      "application/wasm": "wasm",
      "image/svg+xml": "svg",
    }[mimeType] ?? mimeType
  );
}

/** The database rows read, from the headers of a response. */
const rowsOf = (headers) =>
  Number(/rows_read=(\d+)/.exec(headers["server-timing"] ?? headers["Server-Timing"] ?? "")?.[1] ?? 0);

/**
 * Opens a page in a new context, without a cache, and waits for `ready`.
 * @param {{ origin: string, path: string, secret?: string, phone?: boolean, ready: (page: object) => Promise<number>, settle?: boolean }} view
 *   `ready` returns the milliseconds since navigation started; with `settle`, waits until the page loads nothing more
 * @returns {Promise<{ ms: number, loaded: { kind: string, path: string, bytes: number, rows: number }[] }>}
 */
export async function openPage(browser, { origin, path, secret, phone = false, ready, settle = false }) {
  const context = await browser.newContext(phone ? { viewport: PHONE.viewport, hasTouch: true, isMobile: true } : {});
  context.setDefaultTimeout(TIMEOUT_MS);
  try {
    const page = await context.newPage();
    const tools = await context.newCDPSession(page);
    const responses = new Map();
    await tools.send("Network.enable");
    tools.on("Network.responseReceived", ({ requestId, response }) => {
      if (response.url.startsWith(origin)) responses.set(requestId, { response });
    });
    tools.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
      const response = responses.get(requestId);
      if (response) response.bytes = encodedDataLength;
    });
    if (secret)
      await page.addInitScript(([place, text]) => sessionStorage.setItem(place, text), [SESSION_STORAGE_KEY, secret]);
    if (phone) {
      await tools.send("Network.emulateNetworkConditions", PHONE.network);
      await tools.send("Emulation.setCPUThrottlingRate", { rate: PHONE.cpu });
    }
    await page.goto(origin + path, { waitUntil: "commit" });
    const ms = await ready(page);
    if (settle) await page.waitForLoadState("networkidle");
    const loaded = [...responses.values()].map(({ response, bytes = 0 }) => ({
      kind: kindOf(response),
      path: response.url.slice(origin.length),
      bytes,
      rows: rowsOf(response.headers),
      status: response.status,
    }));
    const refused = loaded.find(({ status }) => status >= 400);
    if (refused) throw new Error(`${refused.path} returns ${refused.status}`);
    return { ms, loaded };
  } finally {
    await context.close();
  }
}

/** Waits until the page has painted the elements of a selector. */
export async function waitForPaint(page, selector) {
  await page.waitForFunction((expected) => document.querySelector(expected) !== null, selector, { polling: "raf" });
  // The second animation frame starts after the first one was painted.
  return page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now())))),
  );
}

/** Waits until the field has focus, types the text, and waits until it has been painted. */
export async function typeAndPaint(page, selector, text) {
  await page.waitForFunction((expected) => document.activeElement?.matches(expected), selector, { polling: "raf" });
  await page.keyboard.insertText(text);
  await page.waitForFunction(
    ([expected, value]) => document.querySelector(expected)?.value === value,
    [selector, text],
    {
      polling: "raf",
    },
  );
  return waitForPaint(page, selector);
}
