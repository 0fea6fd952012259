// Splits a stream of bytes into lines. `node:readline` would also split at U+2028, which JSON can contain.

/** @param {AsyncIterable<Buffer>} stream */
export async function* lines(stream) {
  let parts = [];
  for await (const chunk of stream) {
    let from = 0;
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
      yield Buffer.concat([...parts, chunk.subarray(from, at)]).toString();
      parts = [];
      from = at + 1;
    }
    if (from < chunk.length) parts.push(chunk.subarray(from));
  }
}
