// Finds platforms by words of their names and identifiers: "Gmail" and "google calendar" find what Google calls
// `googleapis-gmail` and `googleapis-calendar`.
import type { Connector } from "connector-vault/slim";

/** The words of a text, in lower case and without accents. */
const wordsOf = (text: string): string[] =>
  text
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu) ?? [];

/** How well a word matches: the whole of another, its beginning, a part of it, or not at all. */
const matchScore = (word: string, other: string) =>
  word === other ? 3 : other.startsWith(word) ? 2 : other.includes(word) ? 1 : 0;

/** A search among connectors. Each word of the text must be found; whole words count more, then shorter identifiers. */
export function createSearch(connectors: readonly Connector[]): (text: string) => readonly Connector[] {
  const entries = connectors.map((connector) => ({
    connector,
    words: [...new Set(wordsOf(`${connector.platform} ${connector.name}`))],
  }));
  return (text) => {
    const searchWords = wordsOf(text);
    if (searchWords.length === 0) return text.trim() === "" ? connectors : [];
    const exact = text.trim().toLowerCase();
    const found = entries.flatMap(({ connector, words }) => {
      const best = searchWords.map((word) => Math.max(0, ...words.map((other) => matchScore(word, other))));
      if (best.includes(0)) return [];
      const isExact = connector.platform === exact ? 1 : 0;
      return [{ connector, isExact, score: best.reduce((sum, one) => sum + one, 0) }];
    });
    const order = (a: (typeof found)[number], b: (typeof found)[number]) =>
      b.isExact - a.isExact ||
      b.score - a.score ||
      a.connector.platform.length - b.connector.platform.length ||
      a.connector.platform.localeCompare(b.connector.platform, "en");
    return found.sort(order).map(({ connector }) => connector);
  };
}
