// Three-way merge of two edits of the same version.

/** Multiset difference of two lists. */
function subtract(list: readonly string[], removed: readonly string[]): string[] {
  const remaining = new Map<string, number>();
  for (const item of removed) remaining.set(item, (remaining.get(item) ?? 0) + 1);
  return list.filter((item) => {
    const count = remaining.get(item) ?? 0;
    if (count > 0) remaining.set(item, count - 1);
    return count === 0;
  });
}

export const hasSameTags = (a: readonly string[], b: readonly string[]) =>
  a.length === b.length && a.every((tag, index) => tag === b[index]);

/**
 * Merges tags: their tags in their order, minus those that I removed, plus those that I added. If both sides add or
 * remove the same tag, it counts once, so tags never conflict.
 */
export function mergeTags(
  base: readonly string[],
  theirs: readonly string[],
  own: readonly string[],
): readonly string[] {
  if (hasSameTags(base, theirs)) return own;
  const added = subtract(subtract(own, base), subtract(theirs, base));
  return [...subtract(theirs, subtract(base, own)), ...added];
}

/**
 * Merges field by field: my value where I changed it, otherwise theirs. `conflicts` are the fields that both sides
 * changed to different values.
 */
export function mergeFields<Values extends object>(
  base: Values,
  theirs: Values,
  own: Values,
): { merged: Values; conflicts: readonly (keyof Values)[] } {
  const names = Object.keys(base) as (keyof Values)[];
  const merged = Object.fromEntries(
    names.map((name) => [name, own[name] === base[name] ? theirs[name] : own[name]]),
  ) as Values;
  const conflicts = names.filter(
    (name) => own[name] !== base[name] && theirs[name] !== base[name] && own[name] !== theirs[name],
  );
  return { merged, conflicts };
}
