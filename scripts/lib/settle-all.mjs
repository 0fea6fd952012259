// Waits for concurrent work.

/**
 * Waits for all promises, even if one rejects, so that no work continues after the error was reported. Then throws that error.
 * @template T
 * @param {Promise<T>[]} promises
 * @returns {Promise<T[]>}
 */
export async function settleAll(promises) {
  const results = await Promise.allSettled(promises);
  const failed = results.find(({ status }) => status === "rejected");
  if (failed) throw failed.reason;
  return results.map(({ value }) => value);
}
