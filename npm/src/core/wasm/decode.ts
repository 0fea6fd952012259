// Decodes the module from a string. Base64 splits bytes, so that repeated sequences differ by their position: gzipped, it is
// over a quarter larger than the bytes, which exceeds the package's size limit. In this encoding, each of the most frequent bytes is one
// character, and each other byte is two, which compresses like the bytes themselves. `scripts/lib/encode.mjs` encodes.

// The character of the number 0. The numbers up to that of `~` follow, with a space instead of the backslash, which would
// need an escape in a string literal.
const FIRST_CODE = 35;
const BACKSLASH = 92;
const SPACE = 32;
/** A number below this one encodes a byte by itself; any other is the first of two numbers. */
const SINGLES = 89;

/** `frequent` lists the most frequent bytes in descending order. */
export function decode({ frequent, text }: { frequent: readonly number[]; text: string }): Uint8Array<ArrayBuffer> {
  const order = [...new Set([...frequent, ...Array(256).keys()])];
  const bytes: number[] = [];
  let position = 0;
  const nextNumber = () => {
    const code = text.charCodeAt(position++);
    return (code === SPACE ? BACKSLASH : code) - FIRST_CODE;
  };
  while (position < text.length) {
    const first = nextNumber();
    bytes.push(order[first < SINGLES ? first : (first - SINGLES + 1) * SINGLES + nextNumber()] as number);
  }
  return new Uint8Array(bytes);
}
