// Pages of the console in a headless Chromium, with what they load and how long it takes.

/** What Lighthouse calls a slow 4G and a mid-tier phone. */
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
const PLACE = "connector-vault.secret";
const TIMEOUT_MS = 30_000;

/** The kind of file that an answer is. */
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

/** The database's rows that an answer says it read. */
const rowsOf = (headers) =>
  Number(/rows_read=(\d+)/.exec(headers["server-timing"] ?? headers["Server-Timing"] ?? "")?.[1] ?? 0);

/**
 * Opens a page in a new context, so with nothing cached, and waits for what `ready` waits for.
 * @param {{ origin: string, path: string, secret?: string, phone?: boolean, ready: (page: object) => Promise<number>, settle?: boolean }} view
 *   `ready` gives the milliseconds since the navigation began; with `settle` the page then loads all that it wants
 * @returns {Promise<{ ms: number, loaded: { kind: string, path: string, bytes: number, rows: number }[] }>}
 */
export async function openPage(browser, { origin, path, secret, phone = false, ready, settle = false }) {
  const context = await browser.newContext(phone ? { viewport: PHONE.viewport, hasTouch: true, isMobile: true } : {});
  context.setDefaultTimeout(TIMEOUT_MS);
  try {
    const page = await context.newPage();
    const tools = await context.newCDPSession(page);
    const answers = new Map();
    await tools.send("Network.enable");
    tools.on("Network.responseReceived", ({ requestId, response }) => {
      if (response.url.startsWith(origin)) answers.set(requestId, { response });
    });
    tools.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
      const answer = answers.get(requestId);
      if (answer) answer.bytes = encodedDataLength;
    });
    if (secret) await page.addInitScript(([place, text]) => sessionStorage.setItem(place, text), [PLACE, secret]);
    if (phone) {
      await tools.send("Network.emulateNetworkConditions", PHONE.network);
      await tools.send("Emulation.setCPUThrottlingRate", { rate: PHONE.cpu });
    }
    await page.goto(origin + path, { waitUntil: "commit" });
    const ms = await ready(page);
    if (settle) await page.waitForLoadState("networkidle");
    const loaded = [...answers.values()].map(({ response, bytes = 0 }) => ({
      kind: kindOf(response),
      path: response.url.slice(origin.length),
      bytes,
      rows: rowsOf(response.headers),
      status: response.status,
    }));
    const refused = loaded.find(({ status }) => status >= 400);
    if (refused) throw new Error(`${refused.path} answers ${refused.status}`);
    return { ms, loaded };
  } finally {
    await context.close();
  }
}

/** Waits until the page has and has painted what a selector finds. */
export async function painted(page, selector) {
  await page.waitForFunction((wanted) => document.querySelector(wanted) !== null, selector, { polling: "raf" });
  // The second frame after it begins when the first one is drawn.
  return page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now())))),
  );
}

/** Waits until the field has the focus, types, and waits until the text is there and drawn. */
export async function typed(page, selector, text) {
  await page.waitForFunction((wanted) => document.activeElement?.matches(wanted), selector, { polling: "raf" });
  await page.keyboard.insertText(text);
  await page.waitForFunction(([wanted, value]) => document.querySelector(wanted)?.value === value, [selector, text], {
    polling: "raf",
  });
  return painted(page, selector);
}
