import { zstdDecompressSync } from 'node:zlib';
import type pg from 'pg';

interface Keyed {
  readonly hookId: string;
  readonly deliveryId: string;
}

interface StoredRow extends Keyed {
  readonly body: Buffer | null;
  readonly frame: string | null;
  readonly offset: number;
  readonly length: number;
}

/** The bytes of every stored delivery, oldest first. Read without the product's code, which the test checks. */
export async function readStoredBodies(database: pg.Pool): Promise<readonly (Keyed & { readonly body: Buffer })[]> {
  const { rows } = await database.query<StoredRow>(
    `SELECT hook_id AS "hookId", delivery_id AS "deliveryId", body, frame_id AS frame, frame_offset AS offset, frame_length AS length
       FROM gatehouse.deliveries ORDER BY received_at, delivery_id`,
  );
  const stored = await database.query<{ id: string; bytes: Buffer }>('SELECT id, bytes FROM gatehouse.frames');
  const frames = new Map(stored.rows.map(({ id, bytes }) => [id, zstdDecompressSync(bytes)]));
  return rows.map(({ hookId, deliveryId, body, frame, offset, length }) => ({
    hookId,
    deliveryId,
    body:
      body === null
        ? (frames.get(frame ?? '') ?? Buffer.alloc(0)).subarray(offset, offset + length)
        : zstdDecompressSync(body),
  }));
}
