import { KILL_CONTENDERS } from '../../bench/kill-contenders.ts';
import { killRound } from '../../bench/kill-round.ts';
import { startStores } from '../helpers/stores.ts';
import test from '../helpers/test.ts';

const PLAN = { rounds: 1, perSecond: 60, secondsBefore: 2, secondsAfter: 1 };

test('bench --kill finds what a queue in memory loses, and no loss of Gatehouse', async (t) => {
  const stores = await startStores();
  t.teardown(() => stores.close());
  const run = async (server: string) => {
    const contender = KILL_CONTENDERS.find((one) => one.server === server && one.killed.length === 0);
    if (contender === undefined) {
      throw new Error(`${server} is not compared`);
    }
    return killRound(contender, stores, PLAN);
  };

  const memory = await run('memory-queue');
  t.true(memory.acknowledged > 0);
  t.true(memory.gone > 0, 'what waited at the kill is gone');
  t.is(memory.sent, memory.acknowledged + memory.refused);

  const gatehouse = await run('gatehouse');
  t.true(gatehouse.acknowledged > 0);
  t.is(gatehouse.gone, 0);
  t.is(gatehouse.sent, gatehouse.acknowledged + gatehouse.refused);
});
