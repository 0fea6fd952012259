// A minimal browser for connecting an account: it stores cookies, follows redirects, and sends the origin of forms.
import assert from "node:assert/strict";
import { send } from "./http.mjs";

const MAX_REDIRECTS = 20;

export class Visitor {
  #jars = new Map();
  /** Every response that this browser received: { method, url, response }. */
  seen = [];

  /** Sends one request to an absolute `url`. Cookies are stored per port, unlike in real browsers. */
  async request(method, url, { headers = [], body } = {}) {
    const { host, port, pathname, search } = new URL(url);
    const jar = this.#jars.get(port) ?? new Map();
    this.#jars.set(port, jar);
    const cookie = [...jar].map((pair) => pair.join("=")).join("; ");
    const allHeaders = [["Accept", "text/html,*/*"], ...(cookie ? [["Cookie", cookie]] : []), ...headers];
    const response = await send({
      port: Number(port),
      host,
      method,
      path: pathname + search,
      headers: allHeaders,
      body,
    });
    for (const line of response.all("set-cookie")) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line);
      if (value === "" || /; *max-age=0/i.test(line)) jar.delete(name);
      else jar.set(name, value);
    }
    this.seen.push({ method, url, response });
    return response;
  }

  get = (url) => this.request("GET", url);

  /** Submits a form of a page of the same site. */
  submit(url, fields = {}) {
    const { origin } = new URL(url);
    const headers = [
      ["Origin", origin],
      ["Sec-Fetch-Site", "same-origin"],
      ["Content-Type", "application/x-www-form-urlencoded"],
    ];
    return this.request("POST", url, { headers, body: new URLSearchParams(fields).toString() });
  }

  /** Follows redirects until a page is returned, or until `stop` is true for the next address, which is returned. */
  async follow(response, url, stop = () => false) {
    for (let left = MAX_REDIRECTS; response.status >= 300 && response.status < 400; left -= 1) {
      assert.ok(left > 0, "too many redirects");
      url = new URL(response.header("location"), url).href;
      if (stop(url)) return { url };
      response = await this.get(url);
    }
    return { url, response };
  }

  cookie(port, name) {
    return this.#jars.get(String(port))?.get(name);
  }

  setCookie(port, name, value) {
    const jar = this.#jars.get(String(port)) ?? new Map();
    this.#jars.set(String(port), jar.set(name, value));
  }
}

const ENTITIES = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'" };
const plain = (html) => html.replaceAll(/&(amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity]);

/** Asserts that a response is one of the service's own pages, and returns its content. */
export function readPage(response) {
  assert.equal(response.header("content-type"), "text/html; charset=utf-8", response.text.slice(0, 300));
  assert.equal(response.header("cache-control"), "private, no-store");
  assert.equal(response.header("x-frame-options"), "DENY");
  assert.match(response.header("content-security-policy"), /^default-src 'none'; script-src 'self'; /);
  const html = response.text;
  // Pages contain these elements only: no user input became markup.
  const allowed = /^\/?(html|meta|title|link|script|style|header|span|main|h1|p|form|button|a|img|small)$/;
  for (const [tag, name] of html.matchAll(/<(?!!doctype)([^\s>]*)[^>]*>/g)) assert.match(name, allowed, tag);
  for (const [tag] of html.matchAll(/<img[^>]*>/g))
    assert.match(
      tag,
      /^<img src="(?:\/logos\/[\w-]+\.svg|data:image\/(?:svg\+xml,|(?:png|webp);base64,)[^"<>]+)" alt="" width="(\d+)" height="\1">$/,
    );
  for (const [tag] of html.matchAll(/<[^>]*>/g)) assert.doesNotMatch(tag, /\son\w+ *=|javascript:/i, tag);
  assert.equal(html.match(/<script/g)?.length, html.includes("data-attempt=") ? 2 : 1);
  for (const [tag] of html.matchAll(/<script[^>]*>/g)) assert.match(tag, /^<script src="\/style\/\w+\.js"( defer)?>$/);
  const texts = (name) => [...html.matchAll(new RegExp(`<${name}[^>]*>([^<]*)</`, "g"))].map(([, text]) => plain(text));
  const data = [...html.matchAll(/ data-(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, plain(value)]);
  return {
    status: response.status,
    heading: texts("h1")[0],
    paragraphs: texts("p"),
    // The error text of the platform.
    small: texts("small")[0],
    links: texts("a"),
    data: Object.fromEntries(data),
  };
}
