import type pg from 'pg';
import { COLUMNS, type StoredDelivery } from './delivery.ts';

/** All that is given must fit. Repositories are compared as forges do, in any case. */
export interface DeliveryFilter {
  readonly event?: string | undefined;
  readonly repository?: string | undefined;
  readonly pullRequest?: number | undefined;
  readonly since?: Date | undefined;
}

const RECORD = [
  'received_at AS "receivedAt"',
  ...Object.entries(COLUMNS).map(([key, column]) =>
    key === 'sha256' ? `encode(${column}, 'hex') AS sha256` : `${column} AS "${key}"`,
  ),
].join(', ');

/** Newest first. */
export async function listDeliveries(
  pool: pg.Pool | pg.ClientBase,
  { event, repository, pullRequest, since }: DeliveryFilter,
  limit: number,
): Promise<readonly StoredDelivery[]> {
  const { rows } = await pool.query<StoredDelivery>(
    `SELECT ${RECORD}
       FROM gatehouse.deliveries
      WHERE ($1::text IS NULL OR event = $1)
        AND ($2::text IS NULL OR lower(repository) = lower($2))
        AND ($3::int IS NULL OR pull_request = $3)
        AND received_at >= coalesce($4::timestamptz, '-infinity')
      ORDER BY received_at DESC, hook_id, delivery_id
      LIMIT $5`,
    [event ?? null, repository ?? null, pullRequest ?? null, since ?? null, limit],
  );
  return rows;
}

/** Those of one id, the newest first: as many as there are hooks that sent it. Where one sent it again, its newest. */
export async function findDeliveries(
  pool: pg.Pool | pg.ClientBase,
  deliveryId: string,
): Promise<readonly StoredDelivery[]> {
  const { rows } = await pool.query<StoredDelivery>(
    // Materialized, or the planner may look for the newest by the index on the time, in all days.
    `WITH known AS MATERIALIZED (
       SELECT * FROM gatehouse.deliveries WHERE delivery_id = $1)
     SELECT DISTINCT ON (hook_id) ${RECORD} FROM known ORDER BY hook_id, received_at DESC`,
    [deliveryId],
  );
  return rows.toSorted((one, other) => other.receivedAt.getTime() - one.receivedAt.getTime());
}
