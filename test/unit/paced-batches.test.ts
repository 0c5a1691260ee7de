import { inPacedBatches } from '../../src/jobs/paced-batches.ts';
import test from '../helpers/test.ts';

/** Batches that take so many milliseconds each, on a clock that only they and the pauses advance. */
function play(batchMs: readonly number[], maxMs = 1_000_000) {
  const pauses: number[] = [];
  let clock = 0;
  let batches = 0;
  const state = inPacedBatches(
    async () => {
      clock += batchMs[batches] ?? 0;
      batches += 1;
      return batches < batchMs.length ? 'more' : 'last';
    },
    {
      maxMs,
      signal: new AbortController().signal,
      now: () => clock,
      pause: async (ms) => {
        pauses.push(ms);
        clock += ms;
      },
    },
  );
  return { state, pauses, batches: () => batches };
}

test('a pause is nine times as long as the batch before it, and none begins when the time is over', async (t) => {
  const { state, pauses } = play([5, 20, 1]);
  t.is(await state, 'finished');
  t.deepEqual(pauses, [45, 180]);
  const short = play([5, 20, 1], 200);
  t.is(await short.state, 'unfinished');
  t.is(short.batches(), 2);
});

test('stopping ends a pause, and no more batches begin', async (t) => {
  const stop = new AbortController();
  let clock = 0;
  let batches = 0;
  const state = inPacedBatches(
    async () => {
      batches += 1;
      // An hour: the pause after it is nine.
      clock += 3_600_000;
      setImmediate(() => stop.abort());
      return 'more';
    },
    { maxMs: Number.POSITIVE_INFINITY, signal: stop.signal, now: () => clock },
  );
  t.is(await state, 'unfinished');
  t.is(batches, 1);
});
