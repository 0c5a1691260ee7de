import type pg from 'pg';
import type { Log } from '../log.ts';

/** Small enough that a batch holds its locks only for a moment and leaves autovacuum in step. */
const BATCH_ROWS = 1_000;

/** Deletes deliveries that are older than so many days, batch by batch. */
export async function applyRetention(pool: pg.Pool, days: number, log: Log): Promise<void> {
  let deleted = 0;
  for (;;) {
    const { rowCount } = await pool.query(
      `DELETE FROM gatehouse.deliveries
        WHERE (hook_id, delivery_id) IN (
          SELECT hook_id, delivery_id FROM gatehouse.deliveries
           WHERE received_at < now() - make_interval(days => $1)
           ORDER BY received_at LIMIT $2)`,
      [days, BATCH_ROWS],
    );
    deleted += rowCount ?? 0;
    if ((rowCount ?? 0) < BATCH_ROWS) {
      break;
    }
  }
  if (deleted > 0) {
    log.info({ deleted, days }, 'old deliveries were deleted');
  }
}
