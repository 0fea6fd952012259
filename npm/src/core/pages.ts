// Pagination of lists.
import { Faults, copyMembers, knownMembers, integerError } from "./arguments.js";
import type { CallOptions } from "./options.js";

/** Selects a page of a list. */
export interface Paging {
  /** Rows per page: 1–500, default 20. */
  limit?: number | undefined;
  /** The number of the page, from 1. */
  page?: number | undefined;
}

export interface ToArrayOptions {
  /** The maximum number of rows. Default: all rows. */
  max?: number | undefined;
}

/** A page of a list. Iterating over it continues with the following pages. */
export interface Page<Row> extends AsyncIterable<Row> {
  readonly rows: Row[];
  /** The number of rows in the whole list. */
  readonly total: number;
  /** Whether `total` is a lower bound: a search over all actions stops counting at 10,000 matches. */
  readonly totalIsMinimum: boolean;
  /** Explains to users what a search over all actions could not find. Empty in all other lists. */
  readonly notes: readonly string[];
  readonly pages: number;
  /** The number of this page, from 1. */
  readonly page: number;
  /**
   * The cursor of the next page, which you can store, for example in a URL. Pass it to `list` as `after`, with the same
   * filters. Undefined on the last page. Only the list of connections has cursors.
   */
  readonly after: string | undefined;
  /** Requests the next page. Uses the list's `signal` unless you pass another one. Undefined after the last page. */
  next(options?: CallOptions): Promise<Page<Row> | undefined>;
  /** Collects the rows of this page and all following pages. */
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
 * A request is sent only when you await the list or iterate over it. Iterating requests 100 rows at a time unless you
 * pass `limit`, `page` or `after`.
 */
export interface List<Row> extends Promise<Page<Row>>, AsyncIterable<Row> {
  /** Collects the rows of all pages. */
  toArray(options?: ToArrayOptions): Promise<Row[]>;
}

// Rows per request while iterating. Larger than the service's default, to save requests.
const PAGE_SIZE = 100;

/** The filters of every list. @internal */
export interface ListFilters extends Paging {
  after?: string | undefined;
}

/** @internal */
export type Envelope<Row> = Pick<Page<Row>, "rows" | "total" | "pages" | "page"> & {
  totalIsMinimum?: boolean;
  notes?: string[];
};

/** The body of a response, and the cursor of the next page from its `Link` header. */
interface ListResponse<Row> {
  json: Envelope<Row>;
  after: string | undefined;
}

/** @internal */
export function isPage(json: unknown): boolean {
  const { rows, total, pages, page } = (json ?? {}) as Partial<Envelope<unknown>>;
  const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0;
  return Array.isArray(rows) && [total, pages, page].every(isCount) && (page as number) > 0;
}

/**
 * Iterates over the rows of a list. Sends the `next` of each page as the parameter named by `cursor`. On the last page,
 * `next` is null in lists with `before`, and unchanged in lists with `after`. @internal
 */
export async function* iterateRows<Filters extends object, Row>(
  filters: Filters,
  page: (filters: Filters) => Promise<{ rows: Row[]; next: string | null }>,
  cursor: "after" | "before",
): AsyncGenerator<Row> {
  let current: Filters & { after?: string | null; before?: string | null } = { limit: PAGE_SIZE, ...filters };
  for (;;) {
    const { rows, next } = await page(current);
    yield* rows;
    if (next === null || next === current[cursor]) return;
    current = { ...current, [cursor]: next };
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

  /** @param follow requests the next page */
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
    return collect(this, readMaxRows(options));
  }
}

function readMaxRows(options: ToArrayOptions | undefined): number {
  const faults = new Faults();
  const { max = Infinity } = knownMembers(options, "options", ["max"], faults);
  const predicate = max !== Infinity && integerError(max, 0, Number.MAX_SAFE_INTEGER);
  if (predicate) faults.add("max", predicate);
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

/** A lazy list. Awaiting it requests the first page; iterating over it requests all pages. @internal */
export class PagedList<Row> implements List<Row> {
  #get: (filters: ListFilters, options: CallOptions | undefined) => Promise<ListResponse<Row>>;
  #filters: ListFilters = {};
  #fault: unknown;
  #options: CallOptions | undefined;
  #first: Promise<Page<Row>> | undefined;

  /**
   * @param get requests one page
   * @param filters the caller's, not validated yet
   * @param options the caller's, not validated yet
   */
  constructor(
    get: (filters: ListFilters, options: CallOptions | undefined) => Promise<ListResponse<Row>>,
    filters: ListFilters | undefined,
    options: CallOptions | undefined,
  ) {
    this.#get = get;
    try {
      // Copied, so that the caller can change the object later.
      this.#filters = copyMembers(filters, "filters");
    } catch (error) {
      // Thrown when rows are requested.
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
    return this.#rows(PAGE_SIZE);
  }

  async toArray(options?: ToArrayOptions): Promise<Row[]> {
    const max = readMaxRows(options);
    return collect(this.#rows(Math.min(max, PAGE_SIZE)), max);
  }

  /** The first page, requested only once. */
  get #page(): Promise<Page<Row>> {
    this.#first ??= this.#requestFirst(this.#filters);
    return this.#first;
  }

  /** Iterates over all rows. `limit` is the page size, unless the caller's filters select a page size or a page. */
  async *#rows(limit: number): AsyncGenerator<Row> {
    const isDefault = !["limit", "page", "after"].some((name) => name in this.#filters);
    yield* await this.#requestFirst(isDefault ? { ...this.#filters, limit } : this.#filters);
  }

  async #requestFirst(filters: ListFilters): Promise<Page<Row>> {
    if (this.#fault) throw this.#fault;
    return this.#createPage(await this.#get(filters, this.#options), filters, this.#options);
  }

  /** Creates a page from a response. Its next page is requested with the same filters and options. */
  #createPage({ json, after }: ListResponse<Row>, filters: ListFilters, options: CallOptions | undefined): Page<Row> {
    const next = getNextFilters(json, after, filters);
    const follow = async (overrides?: CallOptions) => {
      if (!next) return undefined;
      const merged = overrides === undefined ? options : { ...options, ...overrides };
      return this.#createPage(await this.#get(next, merged), next, merged);
    };
    return new ListPage(json, next?.after, follow);
  }
}

/**
 * Returns the filters of the next page, or undefined if there is none. Also returns undefined after an empty page,
 * regardless of its counts, and after a page that a proxy returned twice, so that a loop over all rows always ends.
 */
function getNextFilters(
  { rows, pages, page }: Envelope<unknown>,
  after: string | undefined,
  filters: ListFilters,
): ListFilters | undefined {
  const { page: requested, after: cursor, ...rest } = filters;
  if (rows.length === 0 || (after !== undefined && after === cursor)) return undefined;
  if (after !== undefined) return { ...rest, after };
  // A page that was requested with a cursor but returns none is the last one. Lists without cursors continue by page
  // number.
  const isRepeated = requested !== undefined && page < Number(requested);
  return cursor === undefined && page < pages && !isRepeated ? { ...rest, page: page + 1 } : undefined;
}
