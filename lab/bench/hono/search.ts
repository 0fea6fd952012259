// Ranked search: every word must occur. Order: exact match, prefix, start of a word, inside a word; the first field before others.

const NO_MATCH = 255;
const ALPHANUMERIC = /[\p{Alphabetic}\p{N}]/u;

/** The case-folded values of a row: of the first field, then of all others. */
export type Searchable = [string[], string[]];

/** 0: the whole value, 2: its start, 4: the start of a word, 6: inside a word. */
function matchRank(value: string, word: string): number {
  let best = NO_MATCH;
  for (let at = value.indexOf(word); at >= 0; at = value.indexOf(word, at + 1)) {
    if (at === 0) return value.length === word.length ? 0 : 2;
    const before = value.codePointAt(at - 2) ?? 0;
    const last = before > 0xffff ? String.fromCodePoint(before) : value[at - 1]!;
    best = Math.min(best, ALPHANUMERIC.test(last) ? 6 : 4);
  }
  return best;
}

function rankOf([first, others]: Searchable, word: string): number {
  let best = NO_MATCH;
  for (const value of first) best = Math.min(best, matchRank(value, word));
  for (const value of others) best = Math.min(best, matchRank(value, word) + 1);
  return Math.min(best, NO_MATCH);
}

/** The rows that contain every word of `q`, best first. `shared` is a value that all rows have. */
export function search<T>(rows: T[], values: Searchable[], q: string, shared = ""): T[] {
  const words = [...new Set(q.toLowerCase().split(/\s+/).filter(Boolean))];
  const all = q.toLowerCase().trim().split(/\s+/);
  const everywhere = words.map((word) => (shared ? Math.min(matchRank(shared, word) + 1, NO_MATCH) : NO_MATCH));
  const found: { row: T; rank: number }[] = [];
  rows.forEach((row, at) => {
    let rank = 0;
    for (const [index, word] of words.entries()) {
      rank = Math.max(rank, Math.min(rankOf(values[at]!, word), everywhere[index]!));
      if (rank === NO_MATCH) return;
    }
    if (all.length > 1) {
      const together = rankOf(values[at]!, all.join(" "));
      rank = together === NO_MATCH ? rank + 8 : together;
    }
    found.push({ row, rank });
  });
  return found.sort((a, b) => a.rank - b.rank).map(({ row }) => row);
}
