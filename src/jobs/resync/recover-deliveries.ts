import type pg from 'pg';
import type { DeliveryRecovery, FailedDelivery, RepositoryHook } from '../../forges/port/delivery-recovery.ts';
import { ForgeError } from '../../forges/port/forge-error.ts';
import type { Log } from '../../log.ts';
import type { Metrics } from '../../metrics.ts';
import { doneUntil, recordDone } from '../tables/progress.ts';

export interface RecoveryDeps {
  /** Undefined where the forge does not record its deliveries. */
  readonly deliveries: DeliveryRecovery | undefined;
  readonly pool: pg.Pool;
  /** From one round to the next. */
  readonly minutes: number;
  readonly metrics: Metrics;
  readonly log: Log;
}

/** GitHub keeps deliveries for three days, GitHub Enterprise Server for seven ("Redelivering webhooks"). */
const MEMORY_MS = 3 * 24 * 60 * 60 * 1_000;
/** A delivery appears in the list some time after it was made. */
const OVERLAP_MS = 10 * 60 * 1_000;
/** For one delivery. Each one that fails is a new entry in the forge's list, so without a limit there is no end. */
const MAX_REDELIVERIES = 5;
/** Longer than the forge lists a delivery. */
const REMEMBERED_DAYS = 8;
/**
 * Each hook has a list of its own. So many are read in a round, or more where each would else not have its turn in
 * {@link ALL_HOOKS_MINUTES}.
 */
const MIN_HOOKS_A_ROUND = 200;
/** Well within {@link MEMORY_MS}. */
const ALL_HOOKS_MINUTES = 48 * 60;

/**
 * After an outage there may be thousands. A resync has found the pull requests of most of them already, and each one is
 * a write, of which GitHub accepts about 80 a minute: in one round they would keep the next resync waiting for hours.
 */
export const MAX_REDELIVERIES_A_ROUND = 300;

/**
 * Requests a redelivery of what the forge could not deliver since the last check, the newest first. What is left after
 * {@link MAX_REDELIVERIES_A_ROUND} is found again by the next round.
 */
export async function recoverDeliveries(deps: RecoveryDeps): Promise<void> {
  const { deliveries, pool } = deps;
  if (deliveries === undefined) {
    return;
  }
  let left = MAX_REDELIVERIES_A_ROUND;
  if (deliveries.scope === 'app') {
    const start = new Date();
    left -= await recoverSince(deps, deliveries, await doneUntil(pool, 'recover-deliveries'), undefined, left);
    if (left > 0) {
      await recordDone(pool, 'recover-deliveries', start);
    }
  } else {
    for (const { recoveredUntil, ...hook } of await nextHooks(deps)) {
      const start = new Date();
      left -= await recoverSince(deps, deliveries, recoveredUntil ?? undefined, hook, left);
      if (left === 0) {
        break;
      }
      await recordRecovered(pool, hook, start);
    }
  }
  await pool.query('DELETE FROM gatehouse.failed_deliveries WHERE first_seen_at < now() - make_interval(days => $1)', [
    REMEMBERED_DAYS,
  ]);
}

/** Returns how many it has requested, at most so many. */
async function recoverSince(
  { pool, metrics, log }: RecoveryDeps,
  deliveries: DeliveryRecovery,
  last: Date | undefined,
  hook: RepositoryHook | undefined,
  most: number,
): Promise<number> {
  const oldest = Date.now() - MEMORY_MS;
  const since = new Date(Math.max(oldest, last === undefined ? oldest : last.getTime() - OVERLAP_MS));
  const failed = await failedDeliveries(deliveries, since, hook, log);
  const refused = failed.filter(({ status }) => isRefusal(status));
  await reportRefused(refused, hook, { pool, metrics, log });
  let requested = 0;
  for (const delivery of failed.filter(({ status }) => !isRefusal(status)).toReversed()) {
    if (requested === most) {
      log.warn({ hook, requested }, 'more failed deliveries than a resync requests: the next one goes on');
      break;
    }
    if (await mayRequest(pool, delivery)) {
      requested += 1;
      await deliveries.redeliver(delivery);
      log.info({ delivery: delivery.guid, event: delivery.event }, 'a failed delivery: redelivery requested');
    }
  }
  return requested;
}

const REQUEST_TIMEOUT = 408;
const TOO_MANY_REQUESTS = 429;

/** The same delivery would be refused again until somebody changes the hook or Gatehouse's settings. */
function isRefusal(status: number): boolean {
  return status >= 400 && status < 500 && status !== REQUEST_TIMEOUT && status !== TOO_MANY_REQUESTS;
}

/** By the status of the answer. */
const REFUSAL_ADVICE: Readonly<Record<number, string>> = {
  401: 'the secret of the webhook is not WEBHOOK_SECRET: set the same on both sides',
  404: 'the URL of the webhook must end in /webhook',
  413: 'the payload is larger than WEBHOOK_BODY_LIMIT',
  415: 'the content type of the webhook must be application/json',
};

/** Each is counted once, and each kind of refusal is logged once, when it begins. */
async function reportRefused(
  refused: readonly FailedDelivery[],
  hook: RepositoryHook | undefined,
  { pool, metrics, log }: Pick<RecoveryDeps, 'pool' | 'metrics' | 'log'>,
): Promise<void> {
  for (const [status, deliveries] of Map.groupBy(refused, (delivery) => delivery.status)) {
    const { rows } = await pool.query<{ added: number; listedBefore: boolean }>(
      `WITH added AS (
         INSERT INTO gatehouse.failed_deliveries (repository, hook_id, guid, status)
         SELECT $1, $2, guid, $3 FROM unnest($4::text[]) AS guid
         ON CONFLICT DO NOTHING RETURNING guid)
       SELECT (SELECT count(*)::int FROM added) AS added,
              EXISTS (SELECT FROM gatehouse.failed_deliveries WHERE repository = $1 AND hook_id = $2 AND status = $3) AS "listedBefore"`,
      [hook?.repository ?? '', hook?.hookId ?? '', status, deliveries.map(({ guid }) => guid)],
    );
    const { added, listedBefore } = rows[0] ?? { added: 0, listedBefore: true };
    metrics.refusedDeliveries.inc({ status }, added);
    if (added > 0 && !listedBefore) {
      log.error(
        { repository: hook?.repository, status, deliveries: added },
        `deliveries are refused, and not requested again: ${REFUSAL_ADVICE[status] ?? 'the log of the door names the reason'}`,
      );
    }
  }
}

/** Counts the request. */
async function mayRequest(pool: pg.Pool, { guid, status, hook }: FailedDelivery): Promise<boolean> {
  const { rowCount } = await pool.query(
    `INSERT INTO gatehouse.failed_deliveries AS stored (repository, hook_id, guid, status, redeliveries)
     VALUES ($1, $2, $3, $4, 1)
     ON CONFLICT (repository, hook_id, guid)
     DO UPDATE SET status = excluded.status, redeliveries = stored.redeliveries + 1 WHERE stored.redeliveries < $5`,
    [hook?.repository ?? '', hook?.hookId ?? '', guid, status, MAX_REDELIVERIES],
  );
  return rowCount === 1;
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
    if (!(err instanceof ForgeError) || !['refused', 'invalid', 'too-large'].includes(err.kind)) {
      throw err;
    }
    log.warn(
      { reason: err.message, repository: hook?.repository },
      'these credentials may not read the deliveries of a hook',
    );
    return [];
  }
}

/** Those that have waited longest. */
async function nextHooks({
  pool,
  minutes,
}: RecoveryDeps): Promise<readonly (RepositoryHook & { readonly recoveredUntil: Date | null })[]> {
  const { rows } = await pool.query<RepositoryHook & { recoveredUntil: Date | null }>(
    `SELECT repository, hook_id AS "hookId", recovered_until AS "recoveredUntil" FROM gatehouse.hooks
      WHERE hook_id <> '' ORDER BY recovered_until NULLS FIRST, repository, hook_id
      LIMIT (SELECT greatest($1, ceil(count(*) * least(1, $2::float8 / $3))) FROM gatehouse.hooks)`,
    [MIN_HOOKS_A_ROUND, minutes, ALL_HOOKS_MINUTES],
  );
  return rows;
}

async function recordRecovered(pool: pg.Pool, { repository, hookId }: RepositoryHook, until: Date): Promise<void> {
  await pool.query('UPDATE gatehouse.hooks SET recovered_until = $3 WHERE repository = $1 AND hook_id = $2', [
    repository,
    hookId,
    until,
  ]);
}
