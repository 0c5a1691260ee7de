import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { makePartitions } from '../src/db/partitions.ts';
import { makePool } from '../src/db/pool.ts';
import { inTransaction } from '../src/db/transaction.ts';
import { DAYS } from '../src/inbox/days.ts';
import { dropOldDays } from '../src/inbox/drop-days.ts';
import { applyRetention } from '../src/jobs/retention.ts';
import { makeLog } from '../src/log.ts';
import { withServer } from './contenders.ts';
import { type BenchDatabase, onDatabase } from './databases.ts';
import { atMost, type Compared, type GrowthPlan, loadAt } from './growth-figures.ts';
import { FILLED_DAYS } from './growth-fill.ts';
import type { LoadResult } from './load.ts';
import { say } from './plan.ts';
import { spread } from './stats.ts';
import { format } from './table.ts';

/** Deliveries a second while retention runs, far below what the door can do. */
const RATE = 150;
const SECONDS = 8;
/** What comes with a hundred times the load of docs/sizing.md. */
const NEEDED_RATE = 83;
/** Days that are dropped in each round, and made at the end. */
const DAYS_A_ROUND = 3;
const MAX_TIME_RATIO = 1.2;

const log = makeLog('silent');

/** Keys that are older than retention keeps them, stored just before: each worker that was measured has run it. */
const OLD_KEYS = 500_000;

/** What retention has removed. */
interface Removed {
  readonly keys: number;
  readonly seconds: number;
}

/** The latency without retention and while it runs, in turns; and how fast it is. */
export function measureRetention(database: BenchDatabase, plan: GrowthPlan): Promise<readonly Compared[]> {
  return withServer('gatehouse', database, async (server) => {
    const pool = makePool(database.url, log);
    const quiet: LoadResult[] = [];
    const busy: LoadResult[] = [];
    const removed: Removed[] = [];
    try {
      await addOldKeys(database.url);
      await loadAt(server, plan.warmupSeconds, RATE);
      for (let round = 0; round < plan.rounds; round++) {
        quiet.push(await loadAt(server, SECONDS, RATE));
        // Counted before and after: that reads many rows.
        const had = await countOldKeys(database.url);
        const stop = new AbortController();
        const retention = retain(pool, FILLED_DAYS - DAYS_A_ROUND * round, stop.signal);
        busy.push(await loadAt(server, SECONDS, RATE));
        stop.abort();
        const seconds = await retention;
        removed.push({ keys: had - (await countOldKeys(database.url)), seconds });
      }
    } finally {
      await pool.end();
    }
    const keyRate = spread(removed.map(({ keys, seconds }) => keys / seconds)).median;
    const times = keyRate / NEEDED_RATE;
    say(`retention: ${format(keyRate, 0)} keys a second`);
    const of = (figure: 'p50' | 'p99' | 'longest', what: string) =>
      atMost(
        `${what} at ${RATE} a second, without retention and with`,
        spread(quiet.map((result) => result[figure])),
        spread(busy.map((result) => result[figure])),
        MAX_TIME_RATIO,
      );
    return [
      { ...of('p50', 'p50'), target: undefined },
      of('p99', 'p99'),
      { ...of('longest', 'The slowest answer'), target: undefined },
      {
        what: `Retention, beside ${NEEDED_RATE} deliveries a second`,
        before: '',
        after: `${format(keyRate, 0)} keys a second, × ${format(times, 0)}; ${DAYS_A_ROUND} days in ${SECONDS} s`,
        target: { wanted: '≥ 1 ×', met: times >= 1 },
      },
    ];
  });
}

function countOldKeys(url: string): Promise<number> {
  return onDatabase(url, async (client) => {
    const { rows } = await client.query<{ count: number }>(
      "SELECT count(*)::int AS count FROM gatehouse.delivery_keys WHERE hook_id = 'old'",
    );
    return rows[0]?.count ?? 0;
  });
}

function addOldKeys(url: string): Promise<void> {
  return onDatabase(url, async (client) => {
    await client.query(
      `INSERT INTO gatehouse.delivery_keys (hook_id, delivery_id, received_at, body_sha256)
       SELECT 'old', gen_random_uuid()::text, now() - interval '9 days' + make_interval(secs => i * 0.1), sha256(i::text::bytea)
         FROM generate_series(1, $1::int) AS i`,
      [OLD_KEYS],
    );
    // As autovacuum would, in the middle of the measurement.
    await client.query('VACUUM (ANALYZE) gatehouse.delivery_keys');
    await client.query('CHECKPOINT');
  });
}

/** Deletes keys until it is stopped, and meanwhile drops days and makes others. Returns the seconds that it took. */
async function retain(pool: pg.Pool, oldest: number, signal: AbortSignal): Promise<number> {
  const begin = performance.now();
  const deleting = applyRetention({ pool, days: oldest, log, signal });
  for (let day = 1; day <= DAYS_A_ROUND; day++) {
    await sleep((SECONDS * 1_000) / (DAYS_A_ROUND + 1));
    await dropOldDays(pool, oldest - day, log);
    const ahead = DAYS.ahead + FILLED_DAYS - oldest + day;
    await inTransaction(pool, SECONDS * 1_000, (client) => makePartitions(client, { ...DAYS, ahead }));
  }
  await deleting;
  const seconds = (performance.now() - begin) / 1_000;
  return seconds;
}
