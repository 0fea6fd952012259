// Simulates a deployment of many databases from a seed: the placement of accounts, the load of each database, and the cost.

const WEEK_DAYS = 7;
const DAY_S = 86_400;
const MONTH_DAYS = 30;

/** Measured or public values, with their source in the docs. */
export const COSTS = {
  /** Bytes of a connection and of an event, with indexes (scaling.md). */
  connectionBytes: 1_845,
  eventBytes: 800,
  /** The time of a query in D1, in milliseconds. Measured locally: a request of a page of 20 (contributing.md). */
  readMs: 3.2,
  /** A write, and each statement of a token refresh, assumed to cost two reads. Not measured. */
  writeMs: 6.4,
  /** Batches of a token refresh: the read, the lease, the new token. */
  refreshBatches: { reads: 1, writes: 2 },
  /** Rows read by a request, and written by a token refresh and an event (operating.md). */
  requestRows: 25,
  refreshRows: 10,
  eventRows: 3,
  /** Cloudflare's prices in US dollars, as of 2026-11-21 (operating.md): per million, or per GB and month. */
  requestPrice: 0.3,
  rowsReadPrice: 0.001,
  rowsWrittenPrice: 1,
  storagePrice: 0.75,
  planPrice: 5,
};

/** Assumptions about each connection. None of them was measured. */
export const ASSUMPTIONS = {
  /** Requests and changes per day. */
  requests: 1,
  events: 0.1,
  /** Token refreshes per connection and day: one check of each OAuth 2.0 connection. These are 40 % of all connections. */
  refreshes: 0.4,
  /** Days for which events are kept. */
  eventDays: 30,
  /** The ratio of the busiest hour to the average one. */
  peak: 3,
  /** The maximum growth of an account per week, as a share of its size. */
  growth: 0.02,
};

/** A seeded pseudorandom number generator. */
export function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Sizes of accounts by Zipf's law (`1 / n ** exponent`) in random order, with `connections` in total. */
export function zipf(accounts, connections, exponent, next) {
  const weights = Array.from({ length: accounts }, (_, at) => 1 / (at + 1) ** exponent);
  const all = weights.reduce((sum, weight) => sum + weight, 0);
  const sizes = weights.map((weight) => Math.max(1, Math.round((weight / all) * connections)));
  for (let at = sizes.length - 1; at > 0; at -= 1) {
    const other = Math.floor(next() * (at + 1));
    [sizes[at], sizes[other]] = [sizes[other], sizes[at]];
  }
  return sizes;
}

/** The size of connections with their events, in bytes. */
const bytesOf = (connections) =>
  connections * (COSTS.connectionBytes + ASSUMPTIONS.events * ASSUMPTIONS.eventDays * COSTS.eventBytes);

/** The databases, with their accounts and sizes. */
class Databases {
  constructor(count, limit) {
    this.limit = limit;
    this.all = Array.from({ length: count }, () => ({ accounts: [], bytes: 0 }));
  }

  emptiest() {
    let found = this.all[0];
    for (const database of this.all) if (database.bytes < found.bytes) found = database;
    return found;
  }

  put(account, database = this.emptiest()) {
    database.accounts.push(account);
    database.bytes += bytesOf(account.size);
  }

  /** Moves accounts out of databases that exceed the share `from` of the limit. Returns their number and sizes. */
  rebalance(from) {
    const moved = [];
    for (const database of this.all) {
      database.accounts.sort((a, b) => b.size - a.size);
      // Moves the largest accounts first, so that few have to move.
      for (let at = 0; database.bytes > from * this.limit && at < database.accounts.length; ) {
        const account = database.accounts[at];
        const to = this.emptiest();
        if (to === database || to.bytes + bytesOf(account.size) > from * this.limit) {
          at += 1;
          continue;
        }
        database.accounts.splice(at, 1);
        database.bytes -= bytesOf(account.size);
        this.put(account, to);
        moved.push(account.size);
      }
    }
    return moved;
  }
}

/** The utilization of a database in the busiest hour, and the times of its queries. */
function load(connections) {
  const perSecond = (perDay) => (connections * perDay * ASSUMPTIONS.peak) / DAY_S;
  const { reads, writes } = COSTS.refreshBatches;
  const kinds = [
    { rate: perSecond(ASSUMPTIONS.requests + ASSUMPTIONS.refreshes * reads), ms: COSTS.readMs },
    { rate: perSecond(ASSUMPTIONS.events + ASSUMPTIONS.refreshes * writes), ms: COSTS.writeMs },
  ];
  return { kinds, busy: kinds.reduce((sum, { rate, ms }) => sum + (rate * ms) / 1000, 0) };
}

/** The 99th percentile of the waiting time of a query in ms, if a database runs one query at a time. */
export function waitingTimePercentile(kinds, next, queries = 200_000) {
  const rate = kinds.reduce((sum, kind) => sum + kind.rate, 0);
  if (rate === 0) return 0;
  const waits = [];
  let [now, free] = [0, 0];
  for (let at = 0; at < queries; at += 1) {
    now += (-Math.log(1 - next()) / rate) * 1000;
    waits.push(Math.max(0, free - now));
    let which = next() * rate;
    const kind = kinds.find((kind) => (which -= kind.rate) < 0) ?? kinds[0];
    free = Math.max(free, now) + kind.ms;
  }
  return quantile(waits, 0.99);
}

export function quantile(numbers, share) {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
}

/** Simulates a deployment with `weeks` weeks of growth. Databases are filled up to the share `from` of their limit. */
export function simulate({ seed, databases: count, connections, accounts, exponent, limit, weeks, from = 0.8 }) {
  const next = random(seed);
  const sizes = zipf(accounts, connections, exponent, next);
  const maxConnections = Math.floor((from * limit) / bytesOf(1));
  const tooLarge = sizes.filter((size) => size > maxConnections);
  const databases = new Databases(count, limit);
  // Splits accounts that don't fit into one database.
  for (const size of sizes) {
    const parts = size > maxConnections ? Math.ceil(size / (maxConnections / 4)) : 1;
    for (let part = 0; part < parts; part += 1) databases.put({ size: size / parts });
  }
  const first = databases.rebalance(from);
  const initialShares = databases.all.map(({ bytes }) => bytes / limit);
  const moves = [];
  for (let week = 0; week < weeks; week += 1) {
    for (const database of databases.all) {
      for (const account of database.accounts) {
        const growth = account.size * ASSUMPTIONS.growth * next();
        account.size += growth;
        database.bytes += bytesOf(growth);
      }
    }
    moves.push(databases.rebalance(from));
  }
  const connectionCounts = databases.all.map((database) => database.accounts.reduce((sum, { size }) => sum + size, 0));
  const all = connectionCounts.reduce((sum, count) => sum + count, 0);
  const byLoad = [...connectionCounts].sort((a, b) => a - b);
  const waitOf = (size) => waitingTimePercentile(load(size).kinds, next);
  const perMonth = (perDay) => (all * perDay * MONTH_DAYS) / 1e6;
  const requests = perMonth(ASSUMPTIONS.requests);
  const rowsWritten = perMonth(ASSUMPTIONS.refreshes * COSTS.refreshRows + ASSUMPTIONS.events * COSTS.eventRows);
  return {
    tooLarge: tooLarge.length,
    placed: { median: quantile(initialShares, 0.5), most: Math.max(...initialShares) },
    after: databases.all.map(({ bytes }) => bytes / limit).reduce((a, b) => Math.max(a, b), 0),
    movesAtFirst: first.length,
    movesPerWeek: moves.reduce((sum, week) => sum + week.length, 0) / Math.max(1, weeks),
    movedAWeek: moves.flat().reduce((sum, size) => sum + size, 0) / Math.max(1, weeks),
    connections: all,
    refreshesASecond: (all * ASSUMPTIONS.refreshes) / DAY_S,
    busy: { median: load(quantile(connectionCounts, 0.5)).busy, most: load(byLoad.at(-1)).busy },
    waitMs: { median: waitOf(quantile(connectionCounts, 0.5)), most: waitOf(byLoad.at(-1)) },
    dollars: {
      plan: COSTS.planPrice,
      requests: requests * COSTS.requestPrice,
      rowsRead: requests * COSTS.requestRows * COSTS.rowsReadPrice,
      rowsWritten: rowsWritten * COSTS.rowsWrittenPrice,
      storage: (bytesOf(all) / 1e9) * COSTS.storagePrice,
    },
    days: weeks * WEEK_DAYS,
  };
}
