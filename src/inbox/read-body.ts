import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { zstdDecompress } from 'node:zlib';
import type pg from 'pg';
import type { Delivery } from './delivery.ts';
import { MAX_FRAME_BYTES } from './pack-bodies.ts';

const decompress = promisify(zstdDecompress);

/** `deleted`: by retention, meanwhile. `damaged`: what is stored is not what was received. */
export type BodyReading =
  | { readonly outcome: 'read'; readonly body: Buffer }
  | { readonly outcome: 'deleted' }
  | { readonly outcome: 'damaged'; readonly reason: string };

interface BodyRow {
  readonly sha256: Buffer;
  /** Null: it is in a frame. */
  readonly body: Buffer | null;
  readonly frame_id: string | null;
  readonly frame_offset: number;
  readonly frame_length: number;
  /** Null where retention has deleted it, or where there is none. */
  readonly frame: Buffer | null;
}

/** The exact bytes as they came; of an id that came again after a week, those of the newest. */
export async function readBody(
  pool: pg.Pool,
  { hookId, deliveryId }: Pick<Delivery, 'hookId' | 'deliveryId'>,
): Promise<BodyReading> {
  const { rows } = await pool.query<BodyRow>(
    `WITH known AS MATERIALIZED (
       SELECT * FROM gatehouse.deliveries WHERE hook_id = $1 AND delivery_id = $2)
     SELECT body_sha256 AS sha256, body, frame_id, frame_offset, frame_length, frames.bytes AS frame
       FROM (SELECT * FROM known ORDER BY received_at DESC LIMIT 1) AS newest
       -- By the time, too: it says in which partition.
       LEFT JOIN gatehouse.frames ON frames.received_at = newest.received_at AND frames.id = frame_id`,
    [hookId, deliveryId],
  );
  const [row] = rows;
  if (row === undefined) {
    return { outcome: 'deleted' };
  }
  try {
    const body = await unpack(row);
    return hash('sha256', body, 'buffer').equals(row.sha256)
      ? { outcome: 'read', body }
      : { outcome: 'damaged', reason: 'its SHA-256 differs from the one computed when it was received' };
  } catch (error) {
    return { outcome: 'damaged', reason: error instanceof Error ? error.message : String(error) };
  }
}

/** Throws when there is no frame, or when the checksum of the compressed bytes is wrong. */
async function unpack({ body, frame_id, frame_offset, frame_length, frame }: BodyRow): Promise<Buffer> {
  if (body !== null) {
    return decompress(body);
  }
  if (frame === null) {
    throw new Error(`frame ${frame_id} is missing`);
  }
  const bodies = await decompress(frame, { maxOutputLength: MAX_FRAME_BYTES });
  return bodies.subarray(frame_offset, frame_offset + frame_length);
}
