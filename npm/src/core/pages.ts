// Lists, page by page.
import { Faults, copyMembers, knownMembers, integerError } from "./arguments.js";
import type { CallOptions } from "./options.js";

/** Which page of a list. */
export interface Paging {
  /** Rows per page: 1–500, default 20. */
  limit?: number | undefined;
  /** The number of the page, from 1. */
  page?: number | undefined;
}

/** How many rows to collect. */
export interface ToArrayOptions {
  /** At most this number of rows. Default: all rows. */
  max?: number | undefined;
}

/** A page of a list. Iterating over it continues with the pages that follow. */
export interface Page<Row> extends AsyncIterable<Row> {
  /** The rows of this page. */
  readonly rows: Row[];
  /** The number of rows in the whole list. */
  readonly total: number;
  /** Whether there are more rows than `total`. Only a search over all actions does not count all of its matches. */
  readonly totalIsMinimum: boolean;
  /** What a search over all actions did not find, as sentences to show: empty in all other lists. */
  readonly notes: readonly string[];
  /** The number of pages in the whole list. */
  readonly pages: number;
  /** The number of this page, from 1. */
  readonly page: number;
  /**
   * The cursor of the next page, for example to keep in a URL: pass it to `list` as `after`, with the same filters.
   * Undefined on the last page, and in all lists but that of connections, which alone has cursors.
   */
  readonly after: string | undefined;
  /** Requests the next page, with the `signal` of the list unless you pass another one. Undefined after the last page. */
  next(options?: CallOptions): Promise<Page<Row> | undefined>;
  /** Collects the rows of this page and of those that follow. */
  toArray(options?: ToArrayOptions): Promise<Row[]>;
}

/**
 * A list: `await` it for its first page, or iterate over all of its rows.
 *
 * ```js
 * const page = await vault.connections.list({ platform: "github" });
 * for await (const connection of vault.connections.list({ platform: "github" })) { … }
 * ```
 *
 * Nothing is sent before you do either. Iterating requests 100 rows at a time unless you pass `limit`, `page` or `after`.
 */
export interface List<Row> extends Promise<Page<Row>>, AsyncIterable<Row> {
  /** Collects the rows of all pages. */
  toArray(options?: ToArrayOptions): Promise<Row[]>;
}

// Rows per request of an iteration: fewer requests than with the service's default, and none of them heavy.
const ROWS_AT_A_TIME = 100;

/** The filters that all lists have. @internal */
export interface ListFilters extends Paging {
  after?: string | undefined;
}

/** The JSON of a page. @internal */
export type Envelope<Row> = Pick<Page<Row>, "rows" | "total" | "pages" | "page"> & {
  totalIsMinimum?: boolean;
  notes?: string[];
};

/** A page as it comes, with the cursor of the next one. */
interface Received<Row> {
  json: Envelope<Row>;
  after: string | undefined;
}

/** Whether JSON is that of a page. @internal */
export function isPage(json: unknown): boolean {
  const { rows, total, pages, page } = (json ?? {}) as Partial<Envelope<unknown>>;
  const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0;
  return Array.isArray(rows) && [total, pages, page].every(isCount) && (page as number) > 0;
}

/**
 * Iterates over the rows of a list whose pages name the next one in `next`, which the parameter `cursor` takes. A list with
 * `before` ends with null, and one with `after` repeats its cursor at the end. @internal
 */
export async function* iterateRows<Asked extends object, Row>(
  filters: Asked,
  page: (asked: Asked) => Promise<{ rows: Row[]; next: string | null }>,
  cursor: "after" | "before",
): AsyncGenerator<Row> {
  let asked: Asked & { after?: string | null } = { limit: ROWS_AT_A_TIME, ...filters };
  for (;;) {
    const { rows, next } = await page(asked);
    yield* rows;
    if (next === (cursor === "after" ? asked.after : null)) return;
    asked = { ...asked, [cursor]: next };
  }
}

class ListPage<Row> implements Page<Row> {
  readonly rows: Row[];
  readonly total: number;
  readonly totalIsMinimum: boolean;
  readonly notes: readonly string[];
  readonly pages: number;
  readonly page: number;
  readonly after: string | undefined;
  #follow: Page<Row>["next"];

  /** `after` is the cursor of the next page; `follow` requests that page. */
  constructor(envelope: Envelope<Row>, after: string | undefined, follow: Page<Row>["next"]) {
    const { rows, total, totalIsMinimum, notes, pages, page } = envelope;
    this.rows = rows;
    this.total = total;
    this.totalIsMinimum = totalIsMinimum === true;
    this.notes = notes ?? [];
    this.pages = pages;
    this.page = page;
    this.after = after;
    this.#follow = follow;
  }

  next(options?: CallOptions): Promise<Page<Row> | undefined> {
    return this.#follow(options);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Row> {
    for (let page: Page<Row> | undefined = this; page; page = await page.next()) yield* page.rows;
  }

  async toArray(options?: ToArrayOptions): Promise<Row[]> {
    return collect(this, maxRows(options));
  }
}

/** How many rows to collect. */
function maxRows(options: ToArrayOptions | undefined): number {
  const faults = new Faults();
  const { max = Infinity } = knownMembers(options, "options", ["max"], faults);
  const what = max !== Infinity && integerError(max, 0, Number.MAX_SAFE_INTEGER);
  if (what) faults.add("max", what);
  faults.throwIfAny();
  return max;
}

async function collect<Row>(rows: AsyncIterable<Row>, max: number): Promise<Row[]> {
  const collected: Row[] = [];
  if (max === 0) return collected;
  for await (const row of rows) {
    collected.push(row);
    if (collected.length >= max) break;
  }
  return collected;
}

/** A list: the promise of its first page, which is requested when somebody awaits it, and all of its rows. @internal */
export class PagedList<Row> implements List<Row> {
  #get: (filters: ListFilters, options: CallOptions | undefined) => Promise<Received<Row>>;
  #filters: ListFilters = {};
  #fault: unknown;
  #options: CallOptions | undefined;
  #first: Promise<Page<Row>> | undefined;

  /**
   * @param get requests one page
   * @param filters as the caller passed them
   * @param options as the caller passed them
   */
  constructor(
    get: (filters: ListFilters, options: CallOptions | undefined) => Promise<Received<Row>>,
    filters: ListFilters | undefined,
    options: CallOptions | undefined,
  ) {
    this.#get = get;
    try {
      // Copied, so that later changes of the caller's object have no effect.
      this.#filters = copyMembers(filters, "filters");
    } catch (error) {
      // Thrown when somebody requests rows.
      this.#fault = error;
    }
    this.#options = options;
  }

  get [Symbol.toStringTag](): string {
    return "List";
  }

  then<A = Page<Row>, B = never>(
    resolve?: ((page: Page<Row>) => A | PromiseLike<A>) | null,
    reject?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#page.then(resolve, reject);
  }

  catch<B = never>(reject?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<Page<Row> | B> {
    return this.#page.catch(reject);
  }

  finally(done?: (() => void) | null): Promise<Page<Row>> {
    return this.#page.finally(done);
  }

  [Symbol.asyncIterator](): AsyncGenerator<Row> {
    return this.#rows(ROWS_AT_A_TIME);
  }

  async toArray(options?: ToArrayOptions): Promise<Row[]> {
    const max = maxRows(options);
    return collect(this.#rows(Math.min(max, ROWS_AT_A_TIME)), max);
  }

  /** The first page, for those who await the list. */
  get #page(): Promise<Page<Row>> {
    this.#first ??= this.#begin(this.#filters);
    return this.#first;
  }

  /** All rows from the beginning, in pages of this size unless the caller has chosen a size or a place to begin. */
  async *#rows(limit: number): AsyncGenerator<Row> {
    const isFree = !["limit", "page", "after"].some((name) => name in this.#filters);
    yield* await this.#begin(isFree ? { ...this.#filters, limit } : this.#filters);
  }

  async #begin(filters: ListFilters): Promise<Page<Row>> {
    if (this.#fault) throw this.#fault;
    return this.#pageOf(await this.#get(filters, this.#options), filters, this.#options);
  }

  /** The page of a response to these filters, requested with these options. */
  #pageOf({ json, after }: Received<Row>, filters: ListFilters, options: CallOptions | undefined): Page<Row> {
    const next = nextFilters(json, after, filters);
    const follow = async (more?: CallOptions) => {
      if (!next) return undefined;
      const merged = more === undefined ? options : { ...options, ...more };
      return this.#pageOf(await this.#get(next, merged), next, merged);
    };
    return new ListPage(json, next?.after, follow);
  }
}

/** The filters of the next page; undefined after an empty page, whatever its counts are. */
function nextFilters(
  { rows, pages, page }: Envelope<unknown>,
  after: string | undefined,
  filters: ListFilters,
): ListFilters | undefined {
  const { page: _, after: cursor, ...rest } = filters;
  if (rows.length === 0) return undefined;
  if (after !== undefined) return { ...rest, after };
  // In a list with cursors, the last page has none.
  return cursor === undefined && page < pages ? { ...rest, page: page + 1 } : undefined;
}
