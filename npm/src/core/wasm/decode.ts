// Bytes from text, for a module within JavaScript. Base64 cuts bytes into pieces, so that what repeats looks different each
// time: compressed, it is a quarter larger than the bytes. Here each of the most frequent bytes is one character and all
// others are two, which compresses like the bytes themselves. `scripts/lib/encode.mjs` writes the text.

// The character of the number 0. The numbers up to that of `~` follow, with a space for the backslash, which would need an
// escape in quotes.
const FIRST = 35;
const BACKSLASH = 92;
const SPACE = 32;
/** The numbers below this one stand for a byte; the others precede a second one. */
const SINGLE = 89;

/** The bytes of a text; `frequent` lists the most frequent ones. */
export function decode({ frequent, text }: { frequent: readonly number[]; text: string }): Uint8Array<ArrayBuffer> {
  const order = [...new Set([...frequent, ...Array(256).keys()])];
  const bytes: number[] = [];
  let at = 0;
  const number = () => {
    const code = text.charCodeAt(at++);
    return (code === SPACE ? BACKSLASH : code) - FIRST;
  };
  while (at < text.length) {
    const first = number();
    bytes.push(order[first < SINGLE ? first : (first - SINGLE + 1) * SINGLE + number()] as number);
  }
  return new Uint8Array(bytes);
}
