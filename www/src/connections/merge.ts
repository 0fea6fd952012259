// Three-way merge of two edits of the same version.

/** Multiset difference. */
function subtract(some: readonly string[], others: readonly string[]): string[] {
  const remaining = new Map<string, number>();
  for (const other of others) remaining.set(other, (remaining.get(other) ?? 0) + 1);
  return some.filter((one) => {
    const times = remaining.get(one) ?? 0;
    if (times > 0) remaining.set(one, times - 1);
    return times === 0;
  });
}

export const sameTags = (some: readonly string[], others: readonly string[]) =>
  some.length === others.length && some.every((tag, at) => tag === others[at]);

/**
 * Their tags in their order, minus those that I removed, plus those that I added. Adding or removing the same tag twice
 * counts once, so tags never conflict.
 */
export function mergeTags(
  base: readonly string[],
  theirs: readonly string[],
  mine: readonly string[],
): readonly string[] {
  if (sameTags(base, theirs)) return mine;
  const added = subtract(subtract(mine, base), subtract(theirs, base));
  return [...subtract(theirs, subtract(base, mine)), ...added];
}

/**
 * Field by field: mine where I changed it, otherwise theirs. `conflicts` are the fields that both sides changed to
 * different values.
 */
export function mergeFields<Values extends object>(
  base: Values,
  theirs: Values,
  mine: Values,
): { merged: Values; conflicts: readonly (keyof Values)[] } {
  const names = Object.keys(base) as (keyof Values)[];
  const merged = Object.fromEntries(
    names.map((name) => [name, mine[name] === base[name] ? theirs[name] : mine[name]]),
  ) as Values;
  const conflicts = names.filter(
    (name) => mine[name] !== base[name] && theirs[name] !== base[name] && mine[name] !== theirs[name],
  );
  return { merged, conflicts: conflicts };
}
