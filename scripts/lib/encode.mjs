// Encodes bytes as a string, for embedding the WebAssembly module in JavaScript. `npm/src/core/wasm/decode.ts` decodes it and
// explains the format.
const FIRST_CODE = 35;
const BACKSLASH = 92;
const SINGLE_CHARACTER_COUNT = 89;

/** Returns { frequent, text }. */
export function encode(bytes) {
  const counts = Array(256).fill(0);
  for (const byte of bytes) counts[byte] += 1;
  const frequent = [...counts.keys()].sort((a, b) => counts[b] - counts[a]).slice(0, SINGLE_CHARACTER_COUNT);
  const character = (number) => (number + FIRST_CODE === BACKSLASH ? " " : String.fromCharCode(number + FIRST_CODE));
  const codes = [];
  for (const [rank, byte] of [...new Set([...frequent, ...counts.keys()])].entries()) {
    const rest = character(rank % SINGLE_CHARACTER_COUNT);
    codes[byte] =
      rank < SINGLE_CHARACTER_COUNT
        ? rest
        : character(SINGLE_CHARACTER_COUNT - 1 + Math.floor(rank / SINGLE_CHARACTER_COUNT)) + rest;
  }
  return { frequent, text: Array.from(bytes, (byte) => codes[byte]).join("") };
}
