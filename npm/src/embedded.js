// Bytes as text, for a module that lies within JavaScript. Base64 cuts bytes into pieces, so that what repeats looks another
// way each time: compressed, it is a quarter larger than the bytes. Here the most frequent bytes are one character each, all
// others two, and it compresses like the bytes.

// A character for each number: `#` to `~`, with a space in place of the backslash. Nothing in them needs an escape in quotes.
const FIRST = 35;
const BACKSLASH = 92;
const SPACE = 32;
// The numbers below stand for a byte; the two from here on stand before a second one.
const SINGLE = 89;

/** All bytes in the order of their numbers, the frequent ones first. */
const orderOf = (frequent) => [...new Set([...frequent, ...Array(256).keys()])];

/** Writes bytes: { frequent, text }. */
export function encode(bytes) {
  const counts = Array(256).fill(0);
  for (const byte of bytes) counts[byte] += 1;
  const frequent = [...counts.keys()].sort((a, b) => counts[b] - counts[a]).slice(0, SINGLE);
  const character = (number) => String.fromCharCode(number + FIRST === BACKSLASH ? SPACE : number + FIRST);
  const codes = [];
  for (const [rank, byte] of orderOf(frequent).entries()) {
    const rest = character(rank % SINGLE);
    codes[byte] = rank < SINGLE ? rest : character(SINGLE - 1 + Math.floor(rank / SINGLE)) + rest;
  }
  return { frequent, text: Array.from(bytes, (byte) => codes[byte]).join("") };
}

/** The bytes of such a text. */
export function decode({ frequent, text }) {
  const order = orderOf(frequent);
  const bytes = [];
  let at = 0;
  const number = () => {
    const code = text.charCodeAt(at++);
    return (code === SPACE ? BACKSLASH : code) - FIRST;
  };
  while (at < text.length) {
    const first = number();
    bytes.push(order[first < SINGLE ? first : (first - SINGLE + 1) * SINGLE + number()]);
  }
  return new Uint8Array(bytes);
}
