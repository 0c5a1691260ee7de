import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import { type AvaEvent, watchForOpenFiles } from '../helpers/watch-for-open-files.ts';

const declared = (testFile: string): AvaEvent => ({ type: 'declared-test', testFile });
const finished = (testFile: string): AvaEvent => ({ type: 'worker-finished', testFile });
const left = (remainingTests: number): AvaEvent => ({ type: 'stats', stats: { remainingTests } });

async function saidAfter(events: readonly AvaEvent[]): Promise<readonly string[]> {
  const said: string[] = [];
  const watch = watchForOpenFiles((message) => said.push(message), 20);
  for (const event of events) {
    watch(event);
  }
  await sleep(100);
  return said;
}

test('a run that a test file keeps open never waits forever', async (t) => {
  const said = await saidAfter([declared('a.test.ts'), declared('b.test.ts'), left(2), finished('a.test.ts'), left(0)]);
  t.deepEqual(said, ['all tests are over, but these files have left something open: b.test.ts']);
});

test('a run is not ended while tests are due, or files are loaded', async (t) => {
  t.deepEqual(await saidAfter([declared('a.test.ts'), left(1)]), []);
  t.deepEqual(await saidAfter([declared('a.test.ts'), left(0), finished('a.test.ts')]), []);
});
