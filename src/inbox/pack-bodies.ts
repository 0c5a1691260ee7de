import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { constants, type ZstdOptions, zstdCompress, zstdCompressSync } from 'node:zlib';

/** The limit for the bodies in a frame, before compression: what has to be decompressed to read one of them. */
export const MAX_FRAME_BYTES = 1024 * 1024;

/**
 * Usual bodies have 20 to 30 KB: some tens of microseconds of work, of which handing them to another thread would make
 * 250. Larger ones, and frames, are compressed beside the event loop, so that they do not block other requests.
 */
const MAX_SMALL_BODY_BYTES = 128 * 1024;

/** Zstandard (RFC 8878) at level 1: fast, and smaller than PostgreSQL's own compression makes such JSON. */
const ZSTD_LEVEL = 1;

const compressElsewhere = promisify(zstdCompress);

/** A body that waits for its batch. */
export type WaitingBody =
  | { readonly kind: 'small'; readonly bytes: Buffer }
  | { readonly kind: 'large'; readonly compressed: Buffer };

/**
 * A delivery has its own body, compressed, or is a part of a frame: so many bytes from an offset, after decompression.
 */
export type StoredBody =
  | { readonly kind: 'own'; readonly compressed: Buffer }
  | { readonly kind: 'framed'; readonly frameId: string; readonly offset: number; readonly length: number };

/** Bodies one after the other, compressed together: they repeat one another. */
export interface Frame {
  readonly id: string;
  readonly compressed: Buffer;
}

export interface PackedBodies {
  readonly frames: readonly Frame[];
  /** In the order in which they were given. */
  readonly bodies: readonly StoredBody[];
}

export async function prepareBody(bytes: Buffer): Promise<WaitingBody> {
  return bytes.length <= MAX_SMALL_BODY_BYTES
    ? { kind: 'small', bytes }
    : { kind: 'large', compressed: await compressElsewhere(bytes, zstdOptions(bytes)) };
}

/** What it adds to its batch, in bytes. */
export function weightOf(body: WaitingBody): number {
  return body.kind === 'small' ? body.bytes.length : body.compressed.length;
}

/**
 * Small bodies share frames. One that has no other to share it with is stored by itself, without waiting for a thread.
 */
export async function packBodies(waiting: readonly WaitingBody[]): Promise<PackedBodies> {
  const shared = waiting.filter(({ kind }) => kind === 'small').length > 1;
  const frames: { readonly id: string; readonly parts: Buffer[]; length: number }[] = [];
  const bodies = waiting.map((body): StoredBody => {
    if (body.kind === 'large') {
      return { kind: 'own', compressed: body.compressed };
    }
    const { bytes } = body;
    if (!shared) {
      return { kind: 'own', compressed: zstdCompressSync(bytes, zstdOptions(bytes)) };
    }
    let frame = frames.at(-1);
    if (frame === undefined || frame.length + bytes.length > MAX_FRAME_BYTES) {
      frame = { id: randomUUID(), parts: [], length: 0 };
      frames.push(frame);
    }
    const offset = frame.length;
    frame.parts.push(bytes);
    frame.length += bytes.length;
    return { kind: 'framed', frameId: frame.id, offset, length: bytes.length };
  });
  return { frames: await Promise.all(frames.map(({ id, parts }) => compressFrame(id, Buffer.concat(parts)))), bodies };
}

async function compressFrame(id: string, bytes: Buffer): Promise<Frame> {
  return { id, compressed: await compressElsewhere(bytes, zstdOptions(bytes)) };
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
