/** The edit distance of two strings. */
function distance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i += 1) {
    const current = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replacementCost = previous[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      current.push(Math.min(replacementCost, previous[j]! + 1, current[j - 1]! + 1));
    }
    previous = current;
  }
  return previous[b.length]!;
}

/** The names most similar to a string. At most a third of their letters may differ. */
export function nearest(text: string, names: string[], most: number): string[] {
  const requested = text.slice(0, 64).toLowerCase();
  const scored = names.map((name) => ({ name, score: distance(requested, name.toLowerCase()) }));
  const alike = scored.filter(({ name, score }) => score <= Math.max(requested.length, name.length) / 3);
  return alike
    .sort((a, b) => a.score - b.score)
    .slice(0, most)
    .map(({ name }) => name);
}
