import test from '../helpers/test.ts';

test('never ends', async (t) => {
  await new Promise<void>((resolve) => setTimeout(resolve, 3_600_000));
  t.pass();
});
