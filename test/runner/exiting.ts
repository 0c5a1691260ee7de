import test from '../helpers/test.ts';

test('throws where nobody catches', async (t) => {
  setTimeout(() => {
    throw new Error('thrown by a timer');
  }, 10);
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  t.pass();
});
