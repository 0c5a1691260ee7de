import test from '../helpers/test.ts';

test('ends AVA', (t) => {
  process.kill(process.ppid, 'SIGKILL');
  t.pass();
});
