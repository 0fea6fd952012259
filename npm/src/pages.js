// Lists, page by page.
import { wholeNumber } from "./arguments.js";

// Rows that iterating asks for at a time: fewer requests than by the service's default, none of them heavy.
const ROWS_AT_A_TIME = 100;

/** Whether JSON is the envelope of a page. */
export function isPage(json) {
  const isCount = (value) => Number.isSafeInteger(value) && value >= 0;
  return Array.isArray(json?.rows) && [json.total, json.pages, json.page].every(isCount);
}

/** A page of a list. Iterating over it goes on over all pages that follow. */
class Page {
  #follow;

  /** @param {(options?: object) => Promise<Page | undefined>} follow gets the page that follows */
  constructor({ rows, total, pages, page }, follow) {
    Object.assign(this, { rows, total, pages, page });
    this.#follow = follow;
  }

  next(options) {
    return this.#follow(options);
  }

  async *[Symbol.asyncIterator]() {
    for (let page = this; page; page = await page.next()) yield* page.rows;
  }

  async toArray(options) {
    return collect(this, options);
  }
}

/** At most `max` rows of what can be iterated over. */
async function collect(rows, { max = Infinity } = {}) {
  if (max !== Infinity) wholeNumber(max, "max", 0, Number.MAX_SAFE_INTEGER);
  const collected = [];
  if (max === 0) return collected;
  for await (const row of rows) {
    collected.push(row);
    if (collected.length >= max) break;
  }
  return collected;
}

/** A list: the promise of its first page, which is asked for when somebody wants it, and all of its rows. */
export class List {
  #get;
  #filters;
  #options;
  #first;

  /**
   * @param {(filters?: object, options?: object) => Promise<{ json: object, after?: string }>} get asks for one page
   * @param {object} [filters] as the caller passed them
   * @param {object} [options] as the caller passed them
   */
  constructor(get, filters, options) {
    this.#get = get;
    // What the caller does with the object later changes nothing.
    this.#filters = isObject(filters) ? { ...filters } : filters;
    this.#options = options;
  }

  get [Symbol.toStringTag]() {
    return "List";
  }

  then(resolve, reject) {
    return this.#page().then(resolve, reject);
  }

  catch(reject) {
    return this.#page().catch(reject);
  }

  finally(done) {
    return this.#page().finally(done);
  }

  [Symbol.asyncIterator]() {
    return this.#rows(ROWS_AT_A_TIME);
  }

  async toArray(options) {
    return collect(this.#rows(Math.min(options?.max ?? ROWS_AT_A_TIME, ROWS_AT_A_TIME)), options);
  }

  async *#rows(atATime) {
    yield* await this.#page(atATime);
  }

  /** The first page. One from which somebody goes on to the others has more rows, unless the caller said how many or where. */
  #page(atATime) {
    const { limit = atATime, page, after } = isObject(this.#filters) ? this.#filters : {};
    const isFree = limit !== undefined && page === undefined && after === undefined;
    const canTell = this.#filters === undefined || isObject(this.#filters);
    this.#first ??= this.#ask(isFree && canTell ? { ...this.#filters, limit } : this.#filters, this.#options);
    return this.#first;
  }

  async #ask(filters, options) {
    const { json, after } = await this.#get(filters, options);
    return new Page(json, async (more) => {
      const next = following(json, after, filters);
      return next && this.#ask(next, more === undefined ? options : { ...options, ...more });
    });
  }
}

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * The filters of the page that follows; undefined when none does. A service that misreports its counts, or gives the same
 * place again and again, must not keep anybody busy for ever.
 */
function following({ rows, pages, page }, after, filters = {}) {
  const { page: asked = 1, after: came, ...rest } = filters;
  if (rows.length === 0) return undefined;
  if (after !== undefined) return after === came ? undefined : { ...rest, after };
  // The last page of a list with a cursor; or a page that was not asked for.
  if (came !== undefined || page !== Number(asked)) return undefined;
  return page < pages ? { ...rest, page: page + 1 } : undefined;
}
