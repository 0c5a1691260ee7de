const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const FIRST_BYTES = 16 * 1024;
/** Where the present string begins, outside of strings. */
const NOWHERE = -1;

/** Takes JSON text as it arrives, and keeps it without its long strings. */
export interface LongStringFilter {
  write(chunk: Uint8Array): void;
  /** So far. */
  readonly keptBytes: number;
  /** What was kept. It is JSON where that which was written is. */
  kept(): Buffer;
}

/**
 * Makes strings of more than `maxStringBytes` empty, names of members too; they are counted as written, with escapes.
 * People make texts longer and longer, and nothing else of what forges send: without them its size is known.
 *
 * One pass, with the same little work for each byte: strangers choose what is in the texts.
 */
export function makeLongStringFilter(maxStringBytes: number): LongStringFilter {
  let buffer = Buffer.allocUnsafe(FIRST_BYTES);
  let length = 0;
  /** Where the present string begins in the buffer, after its quote. */
  let start = NOWHERE;
  let isLong = false;
  let isEscaped = false;

  function reserve(bytes: number): void {
    if (length + bytes > buffer.length) {
      const larger = Buffer.allocUnsafe(2 * (length + bytes));
      buffer.copy(larger, 0, 0, length);
      buffer = larger;
    }
  }

  return {
    write(chunk) {
      reserve(chunk.length);
      for (const byte of chunk) {
        const isBoundary = byte === QUOTE && !isEscaped;
        isEscaped = start !== NOWHERE && byte === BACKSLASH && !isEscaped;
        if (!isBoundary && start !== NOWHERE && length - start === maxStringBytes) {
          isLong = true;
          length = start;
        }
        if (isBoundary || !isLong) {
          buffer[length] = byte;
          length += 1;
        }
        if (isBoundary) {
          start = start === NOWHERE ? length : NOWHERE;
          isLong = false;
        }
      }
    },
    get keptBytes() {
      return length;
    },
    kept: () => buffer.subarray(0, length),
  };
}
