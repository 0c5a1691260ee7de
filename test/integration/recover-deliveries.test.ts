import { pino } from 'pino';
import type { DeliveryRecovery, FailedDelivery } from '../../src/forges/port/delivery-recovery.ts';
import { ForgeError } from '../../src/forges/port/forge-error.ts';
import { recoverDeliveries } from '../../src/jobs/resync/recover-deliveries.ts';
import { recordDone } from '../../src/jobs/tables/progress.ts';
import { makeLog } from '../../src/log.ts';
import { openMigratedDatabase } from '../helpers/database.ts';
import test from '../helpers/test.ts';

const MINUTE_MS = 60_000;
const SILENT = makeLog('silent');

/** A list of failed deliveries, in which each attempt that is asked for is answered with `status`. */
function makeList(status: number, sent: readonly { readonly id: string; readonly minutesAgo: number }[]) {
  const asked: string[] = [];
  let list: readonly FailedDelivery[] = sent.map(({ id, minutesAgo }) => ({
    id,
    status,
    attempts: 1,
    firstSentAt: new Date(Date.now() - minutesAgo * MINUTE_MS).toISOString(),
  }));
  const deliveries: DeliveryRecovery = {
    failed: async (since) => list.filter(({ firstSentAt }) => new Date(firstSentAt) >= since),
    async redeliver({ id }) {
      asked.push(id);
      list = list.map((one) => (one.id === id ? { ...one, attempts: one.attempts + 1 } : one));
      return true;
    },
  };
  return {
    asked,
    deliveries,
    forget: () => {
      list = list.filter(({ id }) => !asked.includes(id));
    },
  };
}

test('an outage never makes a resync request all deliveries at once', async (t) => {
  const pool = await openMigratedDatabase(t);
  const sent = Array.from({ length: 750 }, (_, index) => ({ id: `${index}`, minutesAgo: 1 + index / 10 }));
  const { asked, deliveries, forget } = makeList(0, sent);
  const rounds: number[] = [];
  for (let round = 0; round < 4; round++) {
    const before = asked.length;
    await recoverDeliveries(deliveries, pool, SILENT);
    rounds.push(asked.length - before);
    forget();
  }
  t.deepEqual(rounds, [300, 300, 150, 0]);
  t.is(new Set(asked).size, sent.length, 'each once');
  t.is(asked[0], '0', 'the newest first');
});

test('no delivery is tried more than three times, however long that takes', async (t) => {
  const pool = await openMigratedDatabase(t);
  const { asked, deliveries } = makeList(502, [{ id: 'never accepted', minutesAgo: 120 }]);
  for (let round = 0; round < 5; round++) {
    await recoverDeliveries(deliveries, pool, SILENT);
  }
  t.is(asked.length, 2, 'the first attempt was the forge’s own');
});

test('a delivery that the forge has forgotten keeps back no other', async (t) => {
  const pool = await openMigratedDatabase(t);
  const asked: string[] = [];
  const failed = ['gone', 'there'].map((id) => ({ id, status: 0, attempts: 1, firstSentAt: new Date().toISOString() }));
  const redeliver = async ({ id }: FailedDelivery) => {
    asked.push(id);
    return id !== 'gone';
  };
  await recoverDeliveries({ failed: async () => failed, redeliver }, pool, SILENT);
  t.deepEqual(asked, ['gone', 'there']);
});

test('what was sent before the last round is not looked for again', async (t) => {
  const pool = await openMigratedDatabase(t);
  const sent = [9, 60].map((minutesAgo) => ({ id: `${minutesAgo}`, minutesAgo }));
  const { asked, deliveries } = makeList(502, sent);
  await recordDone(pool, 'recover-deliveries');
  await recoverDeliveries(deliveries, pool, SILENT);
  t.deepEqual(asked, ['9'], 'the list may show a delivery some minutes after it was made');
});

for (const [status, requests] of [
  [0, 1],
  [401, 0],
  [408, 1],
  [415, 0],
  [429, 1],
  [502, 1],
] as const) {
  test(`a delivery that was answered with ${status} is ${requests === 1 ? 'requested again' : 'only reported'}`, async (t) => {
    const pool = await openMigratedDatabase(t);
    const { asked, deliveries } = makeList(status, [{ id: 'one', minutesAgo: 1 }]);
    const lines: string[] = [];
    await recoverDeliveries(deliveries, pool, pino({}, { write: (line: string) => lines.push(line) }));
    t.is(asked.length, requests);
    t.is(lines.filter((line) => line.includes(`"statuses":[${status}]`)).length, 1 - requests);
  });
}

test('a list that cannot be read does not make the resync fail', async (t) => {
  const pool = await openMigratedDatabase(t);
  const { asked, deliveries } = makeList(502, [{ id: 'one', minutesAgo: 1 }]);
  const failed = async () => {
    throw new ForgeError('invalid', 'GET /app/hook/deliveries: not found');
  };
  await recoverDeliveries({ ...deliveries, failed }, pool, SILENT);
  await recoverDeliveries(deliveries, pool, SILENT);
  t.deepEqual(asked, ['one'], 'the next resync has asked for it');
});
