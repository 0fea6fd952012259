// Several pieces of work at once.

/**
 * Waits for all of them, also when one fails: nothing goes on behind the back of whoever reads of the failure.
 * @template T
 * @param {Promise<T>[]} works
 * @returns {Promise<T[]>}
 */
export async function together(works) {
  const results = await Promise.allSettled(works);
  const failed = results.find(({ status }) => status === "rejected");
  if (failed) throw failed.reason;
  return results.map(({ value }) => value);
}
