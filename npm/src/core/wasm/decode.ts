// Decodes the module from a string, which `scripts/lib/encode.mjs` encodes: one character for each of the most frequent
// bytes, two characters for any other byte. Gzipped, the string is as small as the bytes. Gzipped base64 is over a
// quarter larger and exceeds the package's size limit, because base64 encodes the same bytes differently at different
// positions.

// The code of `#`, which encodes the number 0. The next characters up to `~` encode the next numbers. A space replaces
// the backslash, which would need an escape in a string literal.
const FIRST_CODE = 35;
const BACKSLASH = 92;
const SPACE = 32;
/** A smaller number encodes a whole byte. Any other number is the first of two that encode a byte. */
const SINGLE_NUMBER_LIMIT = 89;

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
    bytes.push(
      order[
        first < SINGLE_NUMBER_LIMIT ? first : (first - SINGLE_NUMBER_LIMIT + 1) * SINGLE_NUMBER_LIMIT + nextNumber()
      ] as number,
    );
  }
  return new Uint8Array(bytes);
}
