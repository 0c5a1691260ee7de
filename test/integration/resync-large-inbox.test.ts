import type pg from 'pg';
import type { Forge } from '../../src/forges/port/forge.ts';
import { readPresentRules } from '../../src/jobs/resync/outdated-reviews.ts';
import { recoverDeliveries } from '../../src/jobs/resync/recover-deliveries.ts';
import { resync } from '../../src/jobs/resync/resync.ts';
import { makeLog } from '../../src/log.ts';
import { makeMetrics } from '../../src/metrics.ts';
import { makeMigratedDatabase, openPool } from '../helpers/database.ts';
import { NO_OPERATOR_POLICIES } from '../helpers/policies.ts';
import test from '../helpers/test.ts';

const DELIVERIES = 20_000;
const REPOSITORIES = 20;

/** Rows of the deliveries that this connection has read, by a sequential scan or by an index. */
async function deliveriesRead(pool: pg.Pool): Promise<number> {
  await pool.query('SELECT pg_stat_force_next_flush()');
  const { rows } = await pool.query<{ read: number }>(
    `SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int AS read FROM pg_stat_user_tables
      WHERE schemaname = 'gatehouse' AND relname LIKE 'deliveries%'`,
  );
  return rows[0]?.read ?? 0;
}

test('a resync reads no row of a large inbox', async (t) => {
  const database = await makeMigratedDatabase();
  // One connection: each reports what it has read when it is asked to.
  const pool = openPool(database.url, 1);
  t.teardown(async () => {
    await pool.end();
    await database.drop();
  });
  const repository = "'acme/repository-' || n % $1";
  await pool.query(
    `INSERT INTO gatehouse.deliveries (hook_id, delivery_id, event, repository, body_sha256, body)
     SELECT '1', n, 'push', ${repository}, '', '' FROM generate_series(1, $2::int) n`,
    [REPOSITORIES, DELIVERIES],
  );
  await pool.query(
    `INSERT INTO gatehouse.repositories (name) SELECT ${repository} FROM generate_series(1, $1::int) n`,
    [REPOSITORIES],
  );
  await pool.query('ANALYZE');
  await pool.query('SELECT count(repository) FROM gatehouse.deliveries');
  const before = await deliveriesRead(pool);
  t.true(before >= DELIVERIES, 'what is read is counted');

  let asked = 0;
  const forge = {
    ...({} as Forge),
    name: 'gitea' as const,
    machineAccounts: [],
    writableRepositories: async () => ({ names: [], more: false }),
    openPullRequests: async (name: string) => {
      asked += 1;
      return { repository: name, pullRequests: [] };
    },
  };
  const log = makeLog('silent');
  await resync(
    {
      forge,
      pool,
      log,
      access: { check: async () => ({ kind: 'granted' }) },
      enforce: true,
      statusContext: 'gatehouse/{base}',
      rules: readPresentRules({ forge, ...NO_OPERATOR_POLICIES }),
      enqueue: async () => {},
      minutes: 15,
      metrics: makeMetrics(),
    },
    { began: new Date(), new: true },
  );
  await recoverDeliveries({ failed: async () => [], redeliver: async () => true }, pool, log);
  t.is(asked, REPOSITORIES);
  t.is(await deliveriesRead(pool), before);
});
