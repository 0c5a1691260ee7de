import { promisify } from 'node:util';
import { constants, type ZstdOptions, zstdCompress, zstdCompressSync } from 'node:zlib';

/** Of the bodies in a frame, before compression: what has to be decompressed to read one of them. */
export const MAX_FRAME_BYTES = 1024 * 1024;

/**
 * Usual bodies have 20 to 30 KB: some tens of microseconds of work, of which handing them to another thread would make 250.
 * Larger ones are compressed beside the event loop, so that they do not block other requests.
 */
const MAX_SMALL_BODY_BYTES = 128 * 1024;

/** Fast, and smaller than PostgreSQL's own compression makes such JSON. */
const ZSTD_LEVEL = 1;

const compressElsewhere = promisify(zstdCompress);

/** A body that waits for its batch. */
export type WaitingBody =
  | { readonly kind: 'small'; readonly bytes: Buffer }
  | { readonly kind: 'large'; readonly compressed: Buffer };

/** A delivery has its own body, compressed, or is a part of its batch's frame: so many bytes from an offset, after decompression. */
export type StoredBody =
  | { readonly kind: 'own'; readonly compressed: Buffer }
  | { readonly kind: 'framed'; readonly offset: number; readonly length: number };

export interface PackedBodies {
  /** The framed bodies one after the other, compressed together: they repeat one another. Undefined when none is framed. */
  readonly frame: Buffer | undefined;
  /** In the order in which they were given. */
  readonly bodies: readonly StoredBody[];
}

export async function prepareBody(bytes: Buffer): Promise<WaitingBody> {
  return bytes.length <= MAX_SMALL_BODY_BYTES
    ? { kind: 'small', bytes }
    : { kind: 'large', compressed: await compressElsewhere(bytes, zstdOptions(bytes)) };
}

/** What it adds to its batch. Batches of at most {@link MAX_FRAME_BYTES} make frames that are no larger. */
export function weightOf(body: WaitingBody): number {
  return body.kind === 'small' ? body.bytes.length : body.compressed.length;
}

/** Small bodies share a frame. One that has no other to share it with is stored by itself. */
export function packBodies(waiting: readonly WaitingBody[]): PackedBodies {
  const small = waiting.flatMap((body) => (body.kind === 'small' ? [body.bytes] : []));
  const framed = small.length > 1;
  let offset = 0;
  const bodies = waiting.map((body): StoredBody => {
    if (body.kind === 'large') {
      return { kind: 'own', compressed: body.compressed };
    }
    if (!framed) {
      return { kind: 'own', compressed: compress(body.bytes) };
    }
    const { length } = body.bytes;
    offset += length;
    return { kind: 'framed', offset: offset - length, length };
  });
  return { frame: framed ? compress(Buffer.concat(small)) : undefined, bodies };
}

/** Zstandard (RFC 8878). */
function compress(bytes: Buffer): Buffer {
  return zstdCompressSync(bytes, zstdOptions(bytes));
}

/** Usual bodies and frames come to a twentieth or less; a chunk of this size comes from Node's own pool of buffers. */
const MIN_CHUNK_BYTES = 4 * 1024;
const USUAL_RATIO = 20;

function zstdOptions({ length }: Buffer): ZstdOptions {
  return {
    params: { [constants.ZSTD_c_compressionLevel]: ZSTD_LEVEL, [constants.ZSTD_c_checksumFlag]: 1 },
    // Tables of the size that these bytes need, not of that which any may need.
    pledgedSrcSize: length,
    chunkSize: Math.max(MIN_CHUNK_BYTES, Math.ceil(length / USUAL_RATIO)),
  };
}
