import { setImmediate as turn } from 'node:timers/promises';
import test from 'ava';
import { latePending } from '../../src/jobs/review/late-pending.ts';

const NEVER_MS = 3_600_000;

test('what takes long is shown', async (t) => {
  const pending = latePending(0);
  await new Promise<void>((resolve) => pending.begin(async () => resolve()));
  await pending.end();
  t.pass();
});

test('what ends before is not shown', async (t) => {
  let shown = 0;
  const show = async () => {
    shown += 1;
  };
  const pending = latePending(0);
  pending.begin(show);
  await pending.end();
  const late = latePending(NEVER_MS);
  late.begin(show);
  await late.end();
  await turn();
  t.is(shown, 0);
});

test('the end waits for what is being shown, and throws what it has thrown', async (t) => {
  const { promise: writing, reject } = Promise.withResolvers<void>();
  const pending = latePending(0);
  await new Promise<void>((resolve) => {
    pending.begin(() => {
      resolve();
      return writing;
    });
  });
  let ended = false;
  const end = pending.end().finally(() => {
    ended = true;
  });
  await turn();
  t.false(ended);
  reject(new Error('the claim is lost'));
  await t.throwsAsync(end, { message: 'the claim is lost' });
  await t.notThrowsAsync(async () => pending[Symbol.asyncDispose]());
});
