const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const CLOSING = Buffer.from('"');
const FIRST_BYTES = 16 * 1024;

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
 */
export function makeLongStringFilter(maxStringBytes: number): LongStringFilter {
  let buffer = Buffer.allocUnsafe(FIRST_BYTES);
  let length = 0;
  /** Where the present string begins in the buffer, after its quote. Undefined outside of strings. */
  let start: number | undefined;
  let isLong = false;
  let isEscaped = false;

  /** A copy: a part of a chunk would keep all of it in memory. */
  function keep(bytes: Uint8Array): void {
    if (length + bytes.length > buffer.length) {
      const larger = Buffer.allocUnsafe(2 * (length + bytes.length));
      buffer.copy(larger, 0, 0, length);
      buffer = larger;
    }
    buffer.set(bytes, length);
    length += bytes.length;
  }

  /** The string's end, or -1 where it is not in this chunk. */
  function closingQuote(chunk: Uint8Array, from: number): number {
    for (let at = from; at < chunk.length; at += 1) {
      const byte = chunk[at];
      if (isEscaped) {
        isEscaped = false;
      } else if (byte === QUOTE) {
        return at;
      } else if (byte === BACKSLASH) {
        isEscaped = true;
      }
    }
    return -1;
  }

  function writeOutside(chunk: Uint8Array, from: number): number {
    const quote = chunk.indexOf(QUOTE, from);
    const end = quote === -1 ? chunk.length : quote + 1;
    keep(chunk.subarray(from, end));
    start = quote === -1 ? undefined : length;
    return end;
  }

  function writeString(chunk: Uint8Array, from: number, begin: number): number {
    const quote = closingQuote(chunk, from);
    const end = quote === -1 ? chunk.length : quote;
    isLong ||= length - begin + end - from > maxStringBytes;
    if (isLong) {
      length = begin;
    } else {
      keep(chunk.subarray(from, end));
    }
    if (quote === -1) {
      return end;
    }
    keep(CLOSING);
    start = undefined;
    isLong = false;
    return end + 1;
  }

  return {
    write(chunk) {
      for (let at = 0; at < chunk.length; ) {
        at = start === undefined ? writeOutside(chunk, at) : writeString(chunk, at, start);
      }
    },
    get keptBytes() {
      return length;
    },
    kept: () => buffer.subarray(0, length),
  };
}
