import type { Response } from 'undici';
import { makeLongStringFilter } from '../../common/long-strings.ts';

/** What is read of an answer. */
export interface AnswerLimits {
  /** Of the answer as it is kept. */
  readonly maxBytes: number;
  /** Longer strings of its JSON become empty; absent: none does. */
  readonly maxStringBytes?: number;
}

/** An answer whose long strings are left out may be so many times as large. */
const SENT_FACTOR = 4;
/** An answer that has not come in time after so many bytes is too large, and the forge is not away. */
const LARGE_BYTES = 4 * 1024 * 1024;

/** The whole body, or undefined when it is too large; the rest is then not read. */
export async function readBounded(response: Response, limits: AnswerLimits): Promise<Buffer | undefined> {
  const sink = limits.maxStringBytes === undefined ? makeChunks() : makeLongStringFilter(limits.maxStringBytes);
  const maxSent = limits.maxStringBytes === undefined ? limits.maxBytes : SENT_FACTOR * limits.maxBytes;
  let sent = 0;
  try {
    // Leaving the loop early cancels the stream, and with it the request.
    for await (const chunk of response.body ?? []) {
      sent += chunk.byteLength;
      sink.write(chunk);
      if (sent > maxSent || sink.keptBytes > limits.maxBytes) {
        return undefined;
      }
    }
  } catch (error) {
    if (error instanceof Error && error.name === 'TimeoutError' && sent > LARGE_BYTES) {
      return undefined;
    }
    throw error;
  }
  return sink.kept();
}

function makeChunks() {
  const chunks: Uint8Array[] = [];
  let keptBytes = 0;
  return {
    write(chunk: Uint8Array) {
      chunks.push(chunk);
      keptBytes += chunk.byteLength;
    },
    get keptBytes() {
      return keptBytes;
    },
    kept: () => Buffer.concat(chunks),
  };
}
