// Searches platforms by words of their names and identifiers: "Gmail" finds `googleapis-gmail`, "google calendar" finds
// `googleapis-calendar`.
import type { Connector } from "connector-vault/slim";

/** Splits a text into words, in lower case and without accents. */
const splitWords = (text: string): string[] =>
  text
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu) ?? [];

/** Scores a match: 3 for the same word, 2 for a prefix, 1 for any other substring, 0 for no match. */
const matchScore = (word: string, candidate: string) =>
  word === candidate ? 3 : candidate.startsWith(word) ? 2 : candidate.includes(word) ? 1 : 0;

/**
 * Returns a function that finds connectors by a query. Each word of the query must match. Sorts by score, then by the
 * length of the identifier.
 */
export function createSearch(connectors: readonly Connector[]): (text: string) => readonly Connector[] {
  const entries = connectors.map((connector) => ({
    connector,
    words: [...new Set(splitWords(`${connector.platform} ${connector.name}`))],
  }));
  return (text) => {
    const searchWords = splitWords(text);
    if (searchWords.length === 0) return text.trim() === "" ? connectors : [];
    const exact = text.trim().toLowerCase();
    const matches = entries.flatMap(({ connector, words }) => {
      const bestScores = searchWords.map((word) =>
        Math.max(0, ...words.map((candidate) => matchScore(word, candidate))),
      );
      if (bestScores.includes(0)) return [];
      const isExact = connector.platform === exact ? 1 : 0;
      return [{ connector, isExact, score: bestScores.reduce((sum, score) => sum + score, 0) }];
    });
    const order = (a: (typeof matches)[number], b: (typeof matches)[number]) =>
      b.isExact - a.isExact ||
      b.score - a.score ||
      a.connector.platform.length - b.connector.platform.length ||
      a.connector.platform.localeCompare(b.connector.platform, "en");
    return matches.sort(order).map(({ connector }) => connector);
  };
}
