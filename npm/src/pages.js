// Lists, page by page.
import { Faults, copyOf, membersOf, notWhole } from "./arguments.js";

// Rows that iterating asks for at a time: fewer requests than by the service's default, none of them heavy.
const ROWS_AT_A_TIME = 100;

/** Whether JSON is the envelope of a page. */
export function isPage(json) {
  const isCount = (value) => Number.isSafeInteger(value) && value >= 0;
  return Array.isArray(json?.rows) && [json.total, json.pages, json.page].every(isCount) && json.page > 0;
}

/** A page of a list. Iterating over it goes on over all pages that follow. */
class Page {
  #follow;

  /**
   * @param {object} json the envelope
   * @param {string | undefined} after the cursor of the page that follows
   * @param {(options?: object) => Promise<Page | undefined>} follow gets that page
   */
  constructor({ rows, total, pages, page }, after, follow) {
    Object.assign(this, { rows, total, pages, page, after });
    this.#follow = follow;
  }

  next(options) {
    return this.#follow(options);
  }

  async *[Symbol.asyncIterator]() {
    for (let page = this; page; page = await page.next()) yield* page.rows;
  }

  async toArray(options) {
    return collect(this, mostOf(options));
  }
}

/** How many rows to collect. */
function mostOf(options) {
  const faults = new Faults();
  const { max = Infinity } = membersOf(options, "options", ["max"], faults);
  const what = max !== Infinity && notWhole(max, 0, Number.MAX_SAFE_INTEGER);
  if (what) faults.add("max", what);
  faults.end();
  return max;
}

/** At most `max` rows of what can be iterated over. */
async function collect(rows, max) {
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
  #fault;
  #options;
  #first;

  /**
   * @param {(filters: object, options?: object) => Promise<{ json: object, after?: string }>} get asks for one page
   * @param {object} [filters] as the caller passed them
   * @param {object} [options] as the caller passed them
   */
  constructor(get, filters, options) {
    this.#get = get;
    try {
      // What the caller does with the object later changes nothing.
      this.#filters = copyOf(filters, "filters");
    } catch (error) {
      // Told to whoever asks for rows.
      this.#fault = error;
    }
    this.#options = options;
  }

  get [Symbol.toStringTag]() {
    return "List";
  }

  then(resolve, reject) {
    return this.#page.then(resolve, reject);
  }

  catch(reject) {
    return this.#page.catch(reject);
  }

  finally(done) {
    return this.#page.finally(done);
  }

  [Symbol.asyncIterator]() {
    return this.#rows(ROWS_AT_A_TIME);
  }

  async toArray(options) {
    const max = mostOf(options);
    return collect(this.#rows(Math.min(max, ROWS_AT_A_TIME)), max);
  }

  /** The first page, for those who await the list. */
  get #page() {
    this.#first ??= this.#ask(this.#filters, this.#options);
    return this.#first;
  }

  /** All rows, from the beginning. A page on the way has more of them, unless the caller said how many or where. */
  async *#rows(atATime) {
    const isFree = !["limit", "page", "after"].some((name) => name in (this.#filters ?? {}));
    yield* await this.#ask(isFree ? { ...this.#filters, limit: atATime } : this.#filters, this.#options);
  }

  /** A page; `before` is the one that it follows, and `way` the cursors that led to it. */
  async #ask(filters, options, before = 0, way = { steps: 0, turn: 1 }) {
    if (this.#fault) throw this.#fault;
    const { json, after } = await this.#get(filters, options);
    // A service that gives the same page again and again must not keep anybody busy for ever.
    if (filters.after === undefined && json.page <= before) return undefined;
    const further = onward(way, after);
    const next = further && following(json, after, filters);
    const follow = async (more) =>
      next && this.#ask(next, more === undefined ? options : { ...options, ...more }, json.page, further);
    return new Page(json, next?.after, follow);
  }
}

/**
 * The way after another cursor; undefined when it leads back. One cursor is kept, another one each time that twice as many
 * steps were made: a circle is noticed within three rounds, whatever its length (Brent's algorithm).
 */
function onward({ kept, steps, turn }, cursor) {
  if (cursor !== undefined && cursor === kept) return undefined;
  return steps + 1 === turn ? { kept: cursor, steps: 0, turn: turn * 2 } : { kept, steps: steps + 1, turn };
}

/** The filters of the page that follows; undefined when none does, whatever the service says of its counts. */
function following({ rows, pages, page }, after, filters) {
  const { page: _, after: came, ...rest } = filters;
  if (rows.length === 0) return undefined;
  if (after !== undefined) return { ...rest, after };
  // After the last page of a list with a cursor, there is none.
  return came === undefined && page < pages ? { ...rest, page: page + 1 } : undefined;
}
