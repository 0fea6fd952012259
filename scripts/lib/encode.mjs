// Bytes as text, for a module within JavaScript: what `npm/src/core/wasm/decode.ts` reads, which explains the numbers.
const FIRST = 35;
const BACKSLASH = 92;
const SINGLE = 89;

/** Writes bytes: { frequent, text }. */
export function encode(bytes) {
  const counts = Array(256).fill(0);
  for (const byte of bytes) counts[byte] += 1;
  const frequent = [...counts.keys()].sort((a, b) => counts[b] - counts[a]).slice(0, SINGLE);
  const character = (number) => (number + FIRST === BACKSLASH ? " " : String.fromCharCode(number + FIRST));
  const codes = [];
  for (const [rank, byte] of [...new Set([...frequent, ...counts.keys()])].entries()) {
    const rest = character(rank % SINGLE);
    codes[byte] = rank < SINGLE ? rest : character(SINGLE - 1 + Math.floor(rank / SINGLE)) + rest;
  }
  return { frequent, text: Array.from(bytes, (byte) => codes[byte]).join("") };
}
