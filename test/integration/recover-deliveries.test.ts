import test from 'ava';
import type { DeliveryRecovery, FailedDelivery } from '../../src/forges/port/delivery-recovery.ts';
import { MAX_REDELIVERIES_A_ROUND, recoverDeliveries } from '../../src/jobs/resync/recover-deliveries.ts';
import { makeLog } from '../../src/log.ts';
import { makeMetrics } from '../../src/metrics.ts';
import { makeMigratedDatabase, openPool } from '../helpers/database.ts';

const HOOKS = ['1', '2', '3'].map((hookId) => ({ repository: `acme/site-${hookId}`, hookId }));
/** Of each webhook. */
const FAILED = 250;

for (const scope of ['app', 'repository'] as const) {
  test(`an outage never makes a resync request all deliveries at once (${scope})`, async (t) => {
    const database = await makeMigratedDatabase();
    const pool = openPool(database.url);
    t.teardown(async () => {
      await pool.end();
      await database.drop();
    });
    for (const { repository, hookId } of HOOKS) {
      await pool.query('INSERT INTO gatehouse.hooks VALUES ($1, $2)', [repository, hookId]);
    }
    const waiting = new Map(HOOKS.flatMap((hook) => failuresOf(hook).map((one) => [one.guid, one])));
    const asked: string[] = [];
    const deliveries: DeliveryRecovery = {
      scope,
      failedDeliveries: async (since, hook) =>
        [...waiting.values()].filter(
          (one) => new Date(one.deliveredAt) >= since && (hook === undefined || one.hook?.hookId === hook.hookId),
        ),
      async redeliver({ guid }) {
        waiting.delete(guid);
        asked.push(guid);
      },
    };
    const rounds: number[] = [];
    while (waiting.size > 0 && rounds.length < 10) {
      const before = asked.length;
      await recoverDeliveries({ deliveries, pool, minutes: 15, metrics: makeMetrics(), log: makeLog('silent') });
      rounds.push(asked.length - before);
    }
    t.deepEqual(rounds, [MAX_REDELIVERIES_A_ROUND, MAX_REDELIVERIES_A_ROUND, 150]);
    t.is(new Set(asked).size, FAILED * HOOKS.length, 'each once');
    t.true(asked[0]?.endsWith(`/${FAILED - 1}`), 'the newest first');
  });
}

/** Oldest first, an hour of them. */
function failuresOf(hook: (typeof HOOKS)[number]): readonly FailedDelivery[] {
  const begin = Date.now() - 60 * 60_000;
  return Array.from({ length: FAILED }, (_, index) => ({
    id: `${index}`,
    guid: `${hook.hookId}/${index}`,
    event: 'pull_request',
    status: 0,
    deliveredAt: new Date(begin + index * 1_000).toISOString(),
    hook,
  }));
}
