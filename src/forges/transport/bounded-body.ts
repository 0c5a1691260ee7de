import { pipeline } from 'node:stream';
import { constants, createGunzip } from 'node:zlib';
import type { Dispatcher } from 'undici';
import { makeLongStringFilter } from '../../common/long-strings.ts';

/** What is read of an answer. */
export interface AnswerLimits {
  /** The limit for the answer as it is kept. */
  readonly maxBytes: number;
  /** Longer strings of its JSON become empty; absent: none does. */
  readonly maxStringBytes?: number;
}

/** An answer whose long strings are left out may be so many times as large. */
const SENT_FACTOR = 4;
/** An answer that has not come in time after so many bytes is too large, and the forge is not away. */
const LARGE_BYTES = 4 * 1024 * 1024;

/** What is sent as `Accept-Encoding`. */
export const ACCEPTED_ENCODING = 'gzip';

type Sent = Pick<Dispatcher.ResponseData, 'headers' | 'body'>;

/** The whole body, decoded, or undefined when it is too large; the rest is then not read. */
export async function readBounded(sent: Sent, limits: AnswerLimits): Promise<Buffer | undefined> {
  const sink = limits.maxStringBytes === undefined ? makeChunks() : makeLongStringFilter(limits.maxStringBytes);
  const maxSent = limits.maxStringBytes === undefined ? limits.maxBytes : SENT_FACTOR * limits.maxBytes;
  let readBytes = 0;
  try {
    // Leaving the loop early cancels the stream, and with it the request.
    for await (const chunk of decoded(sent)) {
      readBytes += chunk.byteLength;
      sink.write(chunk);
      if (readBytes > maxSent || sink.keptBytes > limits.maxBytes) {
        return undefined;
      }
    }
  } catch (error) {
    if (error instanceof Error && error.name === 'TimeoutError' && readBytes > LARGE_BYTES) {
      return undefined;
    }
    throw error;
  }
  return sink.kept();
}

/** Throws where the body is encoded in another way than was accepted. */
function decoded({ headers, body }: Sent): AsyncIterable<Uint8Array> {
  const encoding = String(headers['content-encoding'] ?? 'identity').toLowerCase();
  if (encoding === 'identity') {
    return body;
  }
  if (encoding !== 'gzip' && encoding !== 'x-gzip') {
    // It ends with an error of its own, which nobody else would listen to.
    body.on('error', () => {}).destroy();
    throw new Error(`the answer is encoded as ${encoding}`);
  }
  // As browsers and curl do: what a server left unfinished at the end of the stream is no error.
  const { Z_SYNC_FLUSH } = constants;
  // The loop over its end throws what ends the pipeline.
  return pipeline(body, createGunzip({ flush: Z_SYNC_FLUSH, finishFlush: Z_SYNC_FLUSH }), () => {});
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
