import test from '../helpers/test.ts';

test('ends its own process', (t) => {
  process.kill(process.pid, 'SIGKILL');
  t.pass();
});
