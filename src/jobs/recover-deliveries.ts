import type pg from 'pg';
import { type DeliveryRecovery, type FailedDelivery, ForgeError, type RepositoryHook } from '../forges/forge.ts';
import type { Log } from '../log.ts';

export interface RecoveryParts {
  /** Undefined where the forge remembers nothing of its deliveries. */
  readonly deliveries: DeliveryRecovery | undefined;
  readonly pool: pg.Pool;
  readonly log: Log;
}

const TASK = 'recover-deliveries';
/** GitHub keeps deliveries for three days ("Redelivering webhooks"). */
const MEMORY_MS = 3 * 24 * 60 * 60 * 1_000;
/** A delivery is in the list somewhat after it was made. */
const OVERLAP_MS = 10 * 60 * 1_000;

/** Asks the forge to make deliveries again that it could not make since the last look. */
export async function recoverDeliveries({ deliveries, pool, log }: RecoveryParts): Promise<void> {
  if (deliveries === undefined) {
    return;
  }
  const start = new Date();
  const since = await lastLook(pool, start);
  const hooks = deliveries.scope === 'app' ? [undefined] : await knownHooks(pool);
  for (const hook of hooks) {
    for (const failed of await failedDeliveries(deliveries, since, hook, log)) {
      await deliveries.redeliver(failed);
      log.info({ delivery: failed.guid, event: failed.event }, 'a delivery that had failed was asked for again');
    }
  }
  await pool.query(
    `INSERT INTO gatehouse.progress (task, done_until) VALUES ($1, $2)
     ON CONFLICT (task) DO UPDATE SET done_until = greatest(progress.done_until, excluded.done_until)`,
    [TASK, start],
  );
}

async function failedDeliveries(
  deliveries: DeliveryRecovery,
  since: Date,
  hook: RepositoryHook | undefined,
  log: Log,
): Promise<readonly FailedDelivery[]> {
  try {
    return await deliveries.failedDeliveries(since, hook);
  } catch (err) {
    // Reading a repository's hooks takes a permission that reviewing does not.
    if (!(err instanceof ForgeError) || (err.kind !== 'refused' && err.kind !== 'invalid')) {
      throw err;
    }
    log.warn({ err, repository: hook?.repository }, 'the deliveries of a hook cannot be read with these credentials');
    return [];
  }
}

async function lastLook(pool: pg.Pool, now: Date): Promise<Date> {
  const { rows } = await pool.query<{ done_until: Date }>('SELECT done_until FROM gatehouse.progress WHERE task = $1', [
    TASK,
  ]);
  const oldest = now.getTime() - MEMORY_MS;
  const last = rows[0]?.done_until.getTime();
  return new Date(last === undefined ? oldest : Math.max(oldest, last - OVERLAP_MS));
}

async function knownHooks(pool: pg.Pool): Promise<readonly RepositoryHook[]> {
  const { rows } = await pool.query<RepositoryHook>(
    `SELECT name AS repository, hook_id AS "hookId" FROM gatehouse.repositories WHERE hook_id <> '' ORDER BY name`,
  );
  return rows;
}
